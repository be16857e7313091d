export type { RedisClient } from './client.js';
export { redisStore } from './store.js';
