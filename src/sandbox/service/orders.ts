import { reading, type Service } from './operations.js';

/** What customers have ordered (specification: Orders). */
export const orders: Service['orders'] = reading(
  ({ orders }) => orders,
  ({ shown }) => shown,
);
