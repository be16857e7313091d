import type { Message } from './message.js';

// By their shape, so that no version of Cloudflare's types is needed.

/** The part of the binding of a Queue's producer that is used. */
export interface QueueBinding {
  send(message: Message, options?: { contentType?: 'json' }): Promise<unknown>;
}

/** The part of the binding of an R2 bucket that is used. */
export interface R2Binding {
  head(name: string): Promise<unknown>;
  get(name: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  put(name: string, body: Uint8Array): Promise<unknown>;
}

/** The part of a message that is used. */
export interface QueueMessage {
  readonly id: string;
  readonly body: unknown;
  /** 1 for the first. */
  readonly attempts: number;
  ack(): void;
  retry(options?: { delaySeconds?: number }): void;
}

/** The part of a batch of messages that is used. */
export interface QueueBatch {
  readonly queue: string;
  readonly messages: readonly QueueMessage[];
}
