import { memoryStore } from 'storefront-webhooks';
import { afterEach, vi } from 'vitest';
import { ageClock, describeStore } from '../suite.js';

afterEach(() => vi.restoreAllMocks());

describeStore('memory', () => memoryStore(), { age: ageClock });
