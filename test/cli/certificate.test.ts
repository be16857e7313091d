import { expect, test } from 'vitest';
import { isUntrusted } from '../../src/runtime/certificates.js';
import { newFolder } from '../support/folders.js';
import { serveSelfSigned } from '../support/self-signed.js';
import { begin, run, SECRET } from './command.js';
import { openOutage } from './recover/outage.js';

const env = { WEBHOOK_SECRET: SECRET };
const serve = () => serveSelfSigned((_, response) => void response.end());

test('send explains a certificate that Node does not trust', async () => {
  const { status, records } = await run(['send', 'order:paid', `${await serve()}/webhooks`], {
    env,
  });
  expect([status, records()]).toMatchObject([
    1,
    [
      {
        cause: expect.stringMatching(/self-signed certificate.* Check its certificate\./),
        fix: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
      },
    ],
  ]);
});

test('check explains it, does not call the endpoint down, and sends no order again', async () => {
  const { status, records } = await run(['check', `${await serve()}/webhooks`], { env });
  const [paid] = records();
  expect(paid.cause).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  expect(paid.cause).not.toContain('stopped answering');
  // The order, and the look whether the endpoint is up.
  expect(paid.answers).toEqual([0, 0]);
  expect(paid.change).toContain('NODE_EXTRA_CA_CERTS');
  expect(status).toBe(1);
});

test('record explains it, at the answer of its proxy', async () => {
  const args = ['record', `${await serve()}/webhooks`, '--out', newFolder()];
  const recording = begin(args, { env });
  const [url = ''] = await recording.says(/http:\/\/127[\w.:]+\/\w+/);
  await fetch(url, { method: 'POST', body: '{}' });
  await recording.says(/NODE_EXTRA_CA_CERTS/);
});

test.each(['recover', 'reconcile'])(
  '%s ends at the first request, and explains it',
  async (command) => {
    const { args, env } = await openOutage();
    const own = [command, ...args.slice(1), '--api', await serve()];
    const { status, stderr } = await run(own, { env });
    expect(stderr).toMatch(/: DEPTH_ZERO_SELF_SIGNED_CERT\..* NODE_EXTRA_CA_CERTS/);
    expect(stderr).not.toContain('Retrying');
    expect(status).toBe(1);
  },
);

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true],
  ['SELF_SIGNED_CERT_IN_CHAIN', true],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', true],
  ['CERT_HAS_EXPIRED', true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true],
  ['unable to verify the first certificate', true],
  ['certificate has expired', true],
  ["Hostname/IP does not match certificate's altnames: IP: 127.0.0.1 is not in the list", true],
  ['self-signed certificate; if the root CA is installed locally, use --use-system-ca', true],
  ['getaddrinfo ENOTFOUND certificate.example', false],
  ['getaddrinfo ENOTFOUND cert.example', false],
  ['https://shop.example/certificate did not answer: connect ECONNREFUSED 127.0.0.1:443', false],
  ['ECONNRESET', false],
  // The server does not take the certificate of the client.
  ['ssl/tls alert certificate unknown:SSL alert number 46', false],
  ['tlsv13 alert certificate required:SSL alert number 116', false],
])('a failed connection is one of certificates: %s, %s', (why, isOne) => {
  expect(isUntrusted(why)).toBe(isOne);
});
