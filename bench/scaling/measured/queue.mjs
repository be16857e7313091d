import { newDelivery } from './deliveries.mjs';
import { openQueue } from './queues.mjs';
import { costs, rate, usage } from './rate.mjs';
import { report, task } from './task.mjs';

const queue = await openQueue(task);
const { server } = queue;

// Only a tenth of the time is for warming up, because each job stays in the queue.
let jobs = 0;
const enqueue = await rate(
  async () => {
    await queue.enqueue(newDelivery());
    jobs += 1;
  },
  { ...task, warmMs: task.ms / 10, server },
);
const jobBytes = (await queue.bytes()) / jobs;
report({ enqueue, drain: await drain(), jobBytes });

/** Does all jobs, or as many as it can in the time of the task. */
async function drain() {
  let done = 0;
  const startedAt = performance.now();
  const before = usage(server);
  await new Promise((resolve) => {
    setTimeout(resolve, task.ms);
    queue.work((count) => {
      done += count;
      if (done >= jobs) resolve();
    });
  });
  return { calls: done, ...costs(done, performance.now() - startedAt, before, usage(server)) };
}
