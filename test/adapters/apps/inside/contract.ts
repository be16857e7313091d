import {
  createReceiver,
  memoryStore,
  verifySignature,
  type WebhookRequest,
  type WebhookResponse,
} from 'storefront-webhooks';
import { createGoods } from 'storefront-webhooks/goods';
import { RFC_4231 } from './rfc4231.js';

export const SECRET = 'a secret for tests';
export const LIMIT = 64 * 1024;
/** The ending of goods that are text. */
export const GOODS_END = ' é€😀\r\n';

interface Receiving {
  receive(request: WebhookRequest): Promise<WebhookResponse<string | Uint8Array>>;
}

/** The receivers and goods that every application of the contract mounts. */
export interface Contract {
  /** The receiver at `/webhooks`, and at `/parsed` behind the framework's body parser. */
  readonly receiver: Receiving;
  /** Creates the receiver at `/lazy`. The first call fails, and later calls succeed. */
  readonly lazy: () => Promise<Receiving>;
  /** The receiver at `/down`, whose store does not answer, and which waits at most a second for a body. */
  readonly down: Receiving;
  /** The goods at `/goods`. */
  readonly goods: Receiving;
}

/** The address of a listening application. */
export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** An application under the contract. */
export interface Application {
  /** The paths that the application mounts. */
  readonly name: string;
  serve(contract: Contract): Promise<Listening>;
  /** The line to change that the error names after the framework has parsed the body. */
  readonly parsed: RegExp;
  /** Whether the platform hands over a body only when it is complete. */
  readonly buffers?: boolean;
}

/**
 * @param write - Called with each line that the sender cannot see in an answer.
 * @param bodyTimeout - How long `/down` waits for a body.
 */
export function makeContract(
  write: (line: string) => void,
  secret = SECRET,
  bodyTimeout = 1_000,
): Contract {
  write(`on ${nameOfRuntime()}`);
  const held = RFC_4231.filter(([, key, data, mac]) => verifySignature(data, mac, key));
  write(`${held.length} of ${RFC_4231.length} vectors hold`);
  let made = 0;
  return {
    receiver: makeReceiver(write, secret),
    lazy: async () => {
      made += 1;
      write(`made ${made}`);
      if (made === 1) throw new Error('no secret yet');
      return makeReceiver(write, secret);
    },
    down: createReceiver({
      secret,
      store: storeThatIsDown(),
      bodyTimeout,
      hooks,
    }).on('*', () => {}),
    goods: makeGoods(secret),
  };
}

/** Goods that differ each time they are made: for some orders, bytes that are not text. */
function makeGoods(secret: string): Receiving {
  let made = 0;
  return createGoods({ secret, limit: LIMIT, store: memoryStore(), hooks }, ({ id }) => {
    made += 1;
    if (!id.startsWith('bytes')) return `KEY-${made}${GOODS_END}`;
    return Uint8Array.from({ length: 1_000 }, (_, index) => index * made);
  });
}

function contentTypeOf(headers: WebhookRequest['headers']): unknown {
  if (headers instanceof Headers) return headers.get('content-type');
  const isIt = ([name]: [string, unknown]) => name.toLowerCase() === 'content-type';
  return Object.entries(headers).find(isIt)?.[1];
}

function nameOfRuntime(): string {
  const { EdgeRuntime, navigator, process } = globalThis as {
    EdgeRuntime?: string;
    navigator?: { userAgent?: string };
    process?: { version?: string; getBuiltinModule?: (id: string) => unknown };
  };
  if (EdgeRuntime) return EdgeRuntime;
  const name =
    navigator?.userAgent ??
    (process ? `Node.js/${process.version?.slice(1)}` : 'a runtime without a name');
  const crypto = process?.getBuiltinModule?.('node:crypto') ? 'with' : 'without';
  return `${name} ${crypto} Node's crypto`;
}

const hooks = { onError() {}, onRejected() {} };

/** A schema that accepts any payload, for the contract's own events. */
const anything = {
  '~standard': { version: 1, vendor: 'contract', validate: (value: unknown) => ({ value }) },
} as const;

function makeReceiver(write: (line: string) => void, secret: string): Receiving {
  const tried = new Set<string>();
  let isReleased = false;
  const receiver = createReceiver({
    secret: ({ url, headers }) => {
      if (url?.includes('?')) write(`asked ${url} with ${contentTypeOf(headers)}`);
      return { secret, scope: '' };
    },
    limit: LIMIT,
    store: memoryStore(),
    events: { 'test:flaky': anything, 'test:slow': anything, 'test:release': anything },
    hooks: {
      onError: (error) => write(`error ${String(error)}`),
      onRejected: ({ code }) => write(`rejected ${code}`),
    },
  });
  receiver
    .on('*', ({ id, rawBody }) => write(`handled ${id} of ${rawBody.length} bytes.`))
    .on('test:flaky', ({ id }) => {
      if (tried.has(id)) return;
      tried.add(id);
      throw new Error('the first time');
    })
    .on('test:slow', async ({ id }) => {
      write(`begun ${id}.`);
      // A promise would not work: on Workers, a request must not wait for another one.
      while (!isReleased) await new Promise((resolve) => setTimeout(resolve, 5));
    })
    .on('test:release', () => {
      isReleased = true;
    });
  return receiver;
}

function storeThatIsDown() {
  const store = memoryStore();
  store.claim = async () => {
    throw new Error('connection refused');
  };
  return store;
}
