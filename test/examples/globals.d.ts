// Declares the parts of other runtimes that the examples use, whose types are not installed here.

declare const Bun: {
  serve(options: {
    port?: string | number;
    routes: Record<string, BunHandler | { readonly [Method in 'GET' | 'POST']?: BunHandler }>;
  }): { readonly port: number; stop(): Promise<void> };
};

type BunHandler = (request: Request) => Response | Promise<Response>;

declare const Deno: {
  readonly env: { get(name: string): string | undefined };
  serve(handler: (request: Request) => Response | Promise<Response>): unknown;
  serve(
    options: { port: number; onListen(address: { readonly port: number }): void },
    handler: (request: Request) => Response | Promise<Response>,
  ): { shutdown(): Promise<void> };
  addSignalListener(signal: 'SIGTERM' | 'SIGINT', listener: () => void): void;
  exit(): never;
};

/** In Deno, and in newer versions of Node than the oldest supported one. */
declare class URLPattern {
  constructor(parts: { pathname: string });
  test(url: string): boolean;
}

/** In Cloudflare Workers. */
interface ExportedHandler<Env> {
  fetch(
    request: Request,
    env: Env,
    context: { waitUntil(promise: Promise<unknown>): void },
  ): Promise<Response>;
}

// Cloudflare's types declare it only for programs without the types of the browser.
declare module 'cloudflare:workers' {
  import type { DurableObjectState } from '@cloudflare/workers-types';

  export abstract class DurableObject<Env> {
    protected readonly ctx: DurableObjectState;
    protected readonly env: Env;
    constructor(ctx: DurableObjectState, env: Env);
    fetch(request: Request): Promise<Response>;
  }
}

// Exists only in newer versions of Node than the oldest supported one.
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(file: string);
    exec(sql: string): void;
    prepare(sql: string): {
      get(...values: (string | number | null | Uint8Array)[]): unknown;
      all(
        ...values: (string | number | null | Uint8Array)[]
      ): Record<string, string | number | bigint | Uint8Array | null>[];
      run(...values: (string | number | null | Uint8Array)[]): { changes: number | bigint };
    };
    close(): void;
  }
}
