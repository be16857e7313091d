import { UsageError } from '../../errors/errors.js';
import { tooOld } from '../../errors/too-old.js';
import { optionOf } from '../../stores/size-limits.js';
import type { BullmqQueue } from './bullmq.js';

/**
 * Checks that a queue is of BullMQ 5 or later. BullMQ 4 counts an attempt when it starts, so each wait for the store
 * would use one up. BullMQ states its version from 5.30 on, and in 3 and 4.
 *
 * @throws {UsageError} `version_unsupported`, or `client_invalid` if the queue is of Bull.
 */
export function checkVersion(queue: BullmqQueue): void {
  if (typeof optionOf(queue, 'process') === 'function') {
    throw new UsageError(
      'client_invalid',
      "bullmqQueue() takes a Queue of BullMQ, and this is one of Bull: import { Queue } from 'bullmq'.",
    );
  }
  const stated = `${optionOf(queue, 'metaValues', 'version') ?? ''}`;
  const [, version, major] = /^bullmq:((\d+)\.\S*)/.exec(stated) ?? [];
  const keys = optionOf(queue, 'keys');
  // A marker wakes the workers of BullMQ 5 and later.
  const isOlder = version ? Number(major) < 5 : keys !== undefined && !optionOf(keys, 'marker');
  if (isOlder)
    throw tooOld(
      'bullmqQueue()',
      'BullMQ 5',
      `BullMQ ${version ?? '4 or earlier'}`,
      'bullmq@latest',
    );
}
