import { CONTENDERS, SECRET } from '../contenders.mjs';
import { load } from '../load.mjs';
import { serverMicros } from './measured/server-cpu.mjs';
import { startServer } from './processes.mjs';

const FILE = 'node.mjs';

/** A whole delivery over HTTP, with the memory store: what it costs the process of the server. */
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
