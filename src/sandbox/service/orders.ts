import { reading, type Service } from './operations.js';

/** The operations on orders (specification: Orders). */
export const orders: Service['orders'] = reading(
  ({ orders }) => orders,
  ({ shown }) => shown,
);
