import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^storefront-webhooks$/, replacement: path('src/index.ts') },
      { find: 'storefront-webhooks/express', replacement: path('adapters/express.ts') },
      { find: 'storefront-webhooks/testing', replacement: path('src/testing/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // For a machine that stalls; no test waits so long for anything.
    testTimeout: 20_000,
  },
});
