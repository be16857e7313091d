import type { Attributes } from '@opentelemetry/api';
import { printable } from '../../errors/text.js';
import type { TracedDelivery } from '../telemetry.js';
import * as conventions from './conventions.js';
import * as names from './names.js';
import type { Ending } from './span-end.js';

/** The known facts about a delivery, which are fewer if it could not be read. */
export type Known = Pick<TracedDelivery, 'event' | 'kind' | 'action' | 'startedAt'> &
  Partial<TracedDelivery>;

/**
 * Returns the event if it is a known one. Others are replaced: the header is not signed, so senders can make them
 * up.
 */
export function eventOf({ kind, event }: Pick<Known, 'kind' | 'event'>): string {
  return kind === 'known' ? event : conventions.OTHER;
}

/** The attributes of a span when a delivery starts. */
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

/** The attributes of a span when a delivery ends. */
export function endOf({ outcome, attempt, code, error }: Ending): Attributes {
  return given({
    [names.OUTCOME]: outcome,
    [names.ATTEMPT]: attempt,
    [names.REJECTION_CODE]: code,
    [conventions.ERROR_TYPE]: error?.type,
  });
}

/** The attributes by which deliveries are counted. */
export function countedAs(about: Pick<Known, 'kind' | 'event' | 'source'>, ending: Ending) {
  return given({
    [names.OUTCOME]: ending.outcome,
    [conventions.DESTINATION_NAME]: eventOf(about),
    [names.SOURCE]: about.source,
    [names.REJECTION_CODE]: ending.code,
  });
}

/** The attributes of the duration of a delivery. */
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

/** Removes attributes without a value. */
function given(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
