import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import type { Stormed, StormTask } from '../messages.js';
import { GUESSED } from '../sender.js';

/** How long a sender waits for an answer. */
const PATIENCE_MS = 10_000;
/** The pauses of a sender between two attempts. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** The number of connections to one address, each of which needs a local port. */
const PER_ADDRESS = 20_000;
/** Every order of this number is sent once more after it was answered. */
const COPY_OF = 20;
/** The largest number of open connections, by the kind of load. */
const MOST_SOCKETS = { burst: 15_000, closed: 15_000, paced: 3_000 };

const task: StormTask = JSON.parse(process.env.CHAOS_TASK ?? '');
const startedAt = performance.now();
const stormed: Stormed = {
  sent: 0,
  answered: 0,
  givenUp: 0,
  attempts: 0,
  statuses: {},
  late: 0,
  cut: 0,
  answeredAt: [],
  overMs: 0,
};
let connections = 0;
let open = 0;
const waiting: (() => void)[] = [];

function requestFor(index: number, prefix: string): string {
  const id = `${prefix}${index}`;
  const body = JSON.stringify({
    id,
    status: 100,
    email: 'buyer@example.com',
    product_title: 'A key',
    value: '10.00',
    updated_at: '2026-11-01T00:00:00Z',
  });
  const signature = createHmac('sha512', task.isForged ? GUESSED : task.secret)
    .update(body)
    .digest('hex');
  return (
    `POST / HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\nX-Service-Event: order:paid\r\n` +
    `X-Service-Webhook: whl_${id}\r\nX-Service-Signature: ${signature}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Sends once. Returns the status, or the reason without one. */
async function attempt(request: string): Promise<number | 'late' | 'cut'> {
  if (open >= MOST_SOCKETS[task.how]) await new Promise<void>((resolve) => waiting.push(resolve));
  open += 1;
  try {
    return await send(request);
  } finally {
    open -= 1;
    waiting.shift()?.();
  }
}

function send(request: string): Promise<number | 'late' | 'cut'> {
  stormed.attempts += 1;
  const number = connections++;
  const host = `127.0.0.${1 + (Math.floor(number / PER_ADDRESS) % 250)}`;
  const port = task.ports[number % task.ports.length] ?? 0;
  return new Promise((resolve) => {
    const socket = connect({ host, port, noDelay: true });
    const end = (how: number | 'late' | 'cut') => {
      clearTimeout(timer);
      socket.destroy();
      resolve(how);
    };
    const timer = setTimeout(() => end('late'), task.patienceMs ?? PATIENCE_MS);
    socket.on('error', () => end('cut')).on('close', () => end('cut'));
    socket.once('data', (bytes) => end(Number(bytes.subarray(9, 12).toString('latin1'))));
    socket.write(request);
  });
}

async function deliver(index: number, prefix: string): Promise<void> {
  stormed.sent += 1;
  const request = requestFor(index, prefix);
  let pauseMs = FIRST_PAUSE_MS;
  for (let left = task.attempts; left > 0; left--) {
    const how = await attempt(request);
    if (how === 'late') stormed.late += 1;
    else if (how === 'cut') stormed.cut += 1;
    else stormed.statuses[how] = (stormed.statuses[how] ?? 0) + 1;
    if (how === 200) {
      stormed.answered += 1;
      stormed.answeredAt.push(Math.round(performance.now() - startedAt));
      if (index % COPY_OF === 0) await attempt(request);
      return;
    }
    if (left === 1) break;
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.75 + Math.random() / 2)));
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
  }
  stormed.givenUp += 1;
}

async function main(): Promise<void> {
  const { prefix } = task;
  if (task.how === 'burst') {
    await Promise.all(Array.from({ length: task.orders }, (_, index) => deliver(index, prefix)));
  } else if (task.how === 'closed') {
    let next = 0;
    const lane = async () => {
      while (performance.now() - startedAt < task.forMs) await deliver(next++, prefix);
    };
    await Promise.all(Array.from({ length: task.inFlight }, lane));
  } else {
    const running: Promise<void>[] = [];
    let next = 0;
    for (;;) {
      const at = performance.now() - startedAt;
      if (at > task.forMs) break;
      while (next < (at / 1000) * task.perSecond) running.push(deliver(next++, prefix));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await Promise.all(running);
  }
  stormed.overMs = performance.now() - startedAt;
  process.send?.({ stormed }, () => process.exit(0));
}

void main();
