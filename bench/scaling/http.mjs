import { CONTENDERS, SECRET } from '../contenders.mjs';
import { load } from '../load.mjs';
import { serverMicros } from './measured/server-cpu.mjs';
import { startServer } from './processes.mjs';

const FILE = 'node.mjs';

/** Measures what a whole delivery over HTTP costs the server's process, with the memory store. */
export async function measureHttp(ms) {
  const { headers } = CONTENDERS.find(({ file }) => file === FILE);
  const { child, port } = await startServer(FILE, SECRET);
  try {
    const server = { port, headers };
    await load(server, { connections: 64, seconds: Math.max(1, ms / 2000) });
    const before = serverMicros(child.pid);
    const seconds = ms / 1000;
    const { perSecond, bad } = await load(server, { connections: 64, seconds });
    if (bad > 0) throw new Error(`${bad} requests got no 2xx answer`);
    const micros =
      before === undefined ? null : (serverMicros(child.pid) - before) / (perSecond * seconds);
    return {
      calls: Math.round(perSecond * seconds),
      perSecond,
      clientMicros: micros,
      serverMicros: null,
    };
  } finally {
    child.kill();
  }
}
