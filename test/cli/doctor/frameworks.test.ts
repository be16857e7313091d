import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFramework } from '../../../src/cli/doctor/frameworks.js';

test.each([
  ['express', { dependencies: { express: '5' } }],
  ['nest', { dependencies: { express: '5', '@nestjs/core': '11' } }],
  ['next', { dependencies: { next: '16', hono: '4' } }],
  ['fastify', { dependencies: { fastify: '5' } }],
  ['hono', { dependencies: { hono: '4' }, devDependencies: { wrangler: '4' } }],
  ['workers', { devDependencies: { wrangler: '4' } }],
  ['node', {}],
  ['node', 'no JSON'],
])('the framework is %s if the nearest package.json is %j', (framework, project) => {
  const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
  const text = typeof project === 'string' ? project : JSON.stringify(project);
  writeFileSync(join(folder, 'package.json'), text);
  const deep = join(folder, 'src', 'webhooks');
  mkdirSync(deep, { recursive: true });
  expect([findFramework(folder), findFramework(deep)]).toEqual([framework, framework]);
});
