import type { Attributes } from '@opentelemetry/api';
import type { TracedDelivery } from '../telemetry.js';
import { printable } from '../text.js';
import * as conventions from './conventions.js';
import type { Ending } from './ending.js';
import * as names from './names.js';

/** What is known of a delivery; of one that could not be read, less. */
export type Known = Pick<TracedDelivery, 'event' | 'kind' | 'action' | 'startedAt'> &
  Partial<TracedDelivery>;

/** The event, where it is one of a few: its header is not signed, and anybody may name a million. */
export function eventOf({ kind, event }: Pick<Known, 'kind' | 'event'>): string {
  return kind === 'known' ? event : conventions.OTHER;
}

/** What a span says of a delivery when it starts. */
export function startOf(about: Known): Attributes {
  const { action, id, event, kind, scope, source, bytes } = about;
  return given({
    [conventions.SYSTEM]: names.SYSTEM_VALUE,
    [conventions.OPERATION_NAME]: action,
    [conventions.OPERATION_TYPE]: action,
    [conventions.DESTINATION_NAME]: eventOf(about),
    [conventions.MESSAGE_ID]: id && printable(id, 100),
    [conventions.BODY_SIZE]: bytes,
    [names.EVENT]: kind === 'known' ? undefined : printable(event, 100),
    [names.SCOPE]: scope ? printable(scope, 100) : undefined,
    [names.SOURCE]: source,
  });
}

/** What a span says of a delivery when it ends. */
export function endOf({ outcome, attempt, code, error }: Ending): Attributes {
  return given({
    [names.OUTCOME]: outcome,
    [names.ATTEMPT]: attempt,
    [names.REJECTION_CODE]: code,
    [conventions.ERROR_TYPE]: error?.type,
  });
}

/** By what deliveries are counted. */
export function countedAs(about: Pick<Known, 'kind' | 'event' | 'source'>, ending: Ending) {
  return given({
    [names.OUTCOME]: ending.outcome,
    [conventions.DESTINATION_NAME]: eventOf(about),
    [names.SOURCE]: about.source,
    [names.REJECTION_CODE]: ending.code,
  });
}

/** By what the time of deliveries is told apart. */
export function tookAs(about: Known, { outcome, error }: Ending): Attributes {
  return given({
    [conventions.SYSTEM]: names.SYSTEM_VALUE,
    [conventions.OPERATION_NAME]: about.action,
    [conventions.OPERATION_TYPE]: about.action,
    [conventions.DESTINATION_NAME]: eventOf(about),
    [names.OUTCOME]: outcome,
    [conventions.ERROR_TYPE]: error?.type,
  });
}

/** Without what is not known. */
function given(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
