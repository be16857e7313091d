import { reading, type Service } from './operations.js';

/** The operations on webhook logs (specification: Webhook logs). */
export const webhookLogs: Service['webhookLogs'] = reading(
  ({ webhookLogs }) => webhookLogs,
  ({ endpoint_id: _, response, response_headers, ...log }) => ({
    ...log,
    response: response ?? '',
    response_headers: response_headers ?? {},
  }),
);
