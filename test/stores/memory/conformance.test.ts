import { memoryStore } from 'storefront-webhooks';
import { afterEach, vi } from 'vitest';
import { LONG_AGO_MS } from '../model.js';
import { describeStore } from '../suite.js';

afterEach(() => vi.restoreAllMocks());

describeStore('memory', () => memoryStore(), {
  age() {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() - LONG_AGO_MS);
  },
});
