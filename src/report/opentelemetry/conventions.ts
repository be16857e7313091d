/**
 * The names of OpenTelemetry's semantic conventions for messaging, version 1.44.0. They are copied here because
 * they are not stable yet: a newer package of OpenTelemetry must not rename what dashboards depend on.
 */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.44.0';

export const SYSTEM = 'messaging.system';
export const OPERATION_NAME = 'messaging.operation.name';
export const OPERATION_TYPE = 'messaging.operation.type';
export const DESTINATION_NAME = 'messaging.destination.name';
export const MESSAGE_ID = 'messaging.message.id';
export const BODY_SIZE = 'messaging.message.body.size';
export const ERROR_TYPE = 'error.type';

export const PROCESS_DURATION = 'messaging.process.duration';
export const CLIENT_OPERATION_DURATION = 'messaging.client.operation.duration';

/** Histogram boundaries in seconds, as the conventions advise for both durations. */
export const DURATION_BOUNDARIES = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** Replaces unknown values, so that the number of distinct values stays small. */
export const OTHER = '_OTHER';
