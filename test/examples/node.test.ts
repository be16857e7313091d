import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import { startExample } from '../support/program.js';
import { exampleShop, WEBHOOK_SECRET } from './shop.js';

// The examples for other runtimes have their own tests.
const OTHERS = ['demo', 'deno', 'lambda', 'opentelemetry'];
const EXAMPLES = ['', 'nest/']
  .flatMap((folder) => readdirSync(`examples/${folder}`).map((file) => folder + file))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .filter((name) => !OTHERS.includes(name));

for (const name of EXAMPLES) {
  const open = () => startExample(`examples/${name}.ts`, { env: { WEBHOOK_SECRET } });
  exampleShop(name, open, { isEnded: true, ...(name === 'node' && { elsewhere: isHealthy }) });
}

async function isHealthy(origin: string): Promise<void> {
  const response = await fetch(`${origin}/health`);
  expect([response.status, await response.text()]).toEqual([200, 'ok']);
}
