import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { forgetful, SECRET, serveEndpoint } from '../../../cli/check/endpoints.js';
import { run } from '../../../cli/command.js';

const isMissing = spawnSync('xmllint', ['--version']).status !== 0 && !process.env.CI;

test.skipIf(isMissing)(
  'check writes JUnit that matches the schema of Jenkins (apt-get install libxml2-utils)',
  async () => {
    const endpoint = await serveEndpoint(forgetful);
    onTestFinished(() => endpoint.stop());
    const folder = mkdtempSync(join(tmpdir(), 'jenkins-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'junit.xml');
    const validate = () => {
      const args = ['--noout', '--schema', 'test/cli/check/jenkins-junit.xsd', file];
      return spawnSync('xmllint', args, { encoding: 'utf8' });
    };
    const rows = ['duplicate', 'unsigned', 'down-and-up'].flatMap((row) => ['--only', row]);
    const observe = ['--observe', `${endpoint.url.origin}/goods/{order}`];
    await run(['check', endpoint.url.href, ...observe, '--junit', file, ...rows], {
      env: { WEBHOOK_SECRET: SECRET },
    });
    expect(validate()).toMatchObject({ status: 0, stderr: `${file} validates\n` });
    const xml = readFileSync(file, 'utf8');
    for (const broken of [xml.replace(' name=', ' nmae='), xml.replaceAll('skipped>', 'left>')]) {
      writeFileSync(file, broken);
      expect(validate().status).toBe(3);
    }
  },
);
