const { subscribe } = require('node:diagnostics_channel');

/**
 * A platform for functions of Next: it takes the work that Next hands over (`after()` gets there), and stops the process
 * when the response has left and that work has ended. Loaded into the process of `next start` before Next.
 */
const work = new Set();
const context = {
  waitUntil(promise) {
    work.add(promise);
    const forget = () => work.delete(promise);
    promise.then(forget, forget);
  },
};
// Next asks its platform through this symbol.
globalThis[Symbol.for('@next/request-context')] = { get: () => context };

subscribe('http.server.response.finish', async ({ request }) => {
  if (!request.url.endsWith('/frozen')) return;
  while (work.size > 0) await Promise.allSettled(work);
  process.kill(process.pid, 'SIGSTOP');
});
