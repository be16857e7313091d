import * as z from 'zod/mini';
import { newWebhookEndpoint } from '../../api/parameters.js';
import { eventSchemas } from '../../schemas/events.js';
import { withChanges } from '../state/records.js';
import { newId } from '../trade/ids.js';
import { check } from './form.js';
import { reading, type Service } from './operations.js';
import { webhookUrl, wrongFields } from './wrong-fields.js';

const created = z.extend(newWebhookEndpoint, {
  url: webhookUrl,
  events: z.array(z.enum(Object.keys(eventSchemas))),
});
const changed = z.partial(created);

/** The operations on webhook endpoints (specification: Webhook endpoints). */
export const webhookEndpoints: Service['webhookEndpoints'] = {
  ...reading(
    ({ webhookEndpoints }) => webhookEndpoints,
    (endpoint) => endpoint,
  ),

  create({ market, sent }) {
    const { account } = market;
    const { url, events } = check(created, sent, wrongFields(market));
    const dates = account.clock.dates();
    return account.webhookEndpoints.put({ id: newId('whe'), url, enabled: true, events, ...dates });
  },

  update({ market, id, sent }) {
    const { account } = market;
    const endpoint = account.webhookEndpoints.get(id);
    if (!endpoint) return undefined;
    const changes = check(changed, sent, wrongFields(market));
    const updated_at = account.clock.timestamp();
    return account.webhookEndpoints.put({ ...withChanges(endpoint, changes), updated_at });
  },

  delete: ({ market: { account }, id }) => account.webhookEndpoints.delete(id),
};
