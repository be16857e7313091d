import type { Chapter } from './rule.js';
import { catalogue } from './rules/catalogue.js';
import { service } from './rules/service.js';
import { trade } from './rules/trade.js';
import { webhooks } from './rules/webhooks.js';

/** Every rule of the specification, by its section. */
export const RULES: Chapter = { ...service, ...catalogue, ...trade, ...webhooks };
