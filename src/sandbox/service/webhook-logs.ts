import { reading, type Service } from './operations.js';

/** The webhooks that were sent (specification: Webhook logs). */
export const webhookLogs: Service['webhookLogs'] = reading(
  ({ webhookLogs }) => webhookLogs,
  ({ endpoint_id: _, response, response_headers, ...log }) => ({
    ...log,
    response: response ?? '',
    response_headers: response_headers ?? {},
  }),
);
