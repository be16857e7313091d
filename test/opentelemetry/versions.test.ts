import * as api from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { checkApi } from '../../src/report/opentelemetry/check-api.js';

test('openTelemetry rejects an API without metrics by its name and version', () => {
  const { trace } = api;
  expect(() => checkApi({ trace })).toThrow(
    expect.objectContaining({
      code: 'version_unsupported',
      message: expect.stringContaining(
        'openTelemetry() needs @opentelemetry/api 1.3 or later, and this is an earlier version: npm install @opentelemetry/api@latest.',
      ),
    }),
  );
  expect(() => checkApi(api)).not.toThrow();
});
