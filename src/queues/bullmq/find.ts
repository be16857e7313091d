/** Returns a property of an object whose type does not declare it; `undefined` of anything else. */
export function find(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns the Redis client of a queue or a worker, once it is connected. In BullMQ 5, the queue itself holds it. */
export async function clientOf(queue: unknown): Promise<unknown> {
  return find(find(queue, 'backend') ?? queue, 'client');
}
