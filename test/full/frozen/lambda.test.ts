import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { sign } from 'storefront-webhooks/testing';
import { expect, test } from 'vitest';
import { paidOrder, SECRET } from '../../support/deliver.js';
import { compileProgram } from '../../support/program.js';
import { Host } from './host.js';

const body = JSON.stringify(paidOrder());
const EVENT = {
  requestContext: { http: { method: 'POST' } },
  rawPath: '/webhooks',
  headers: {
    'x-service-event': 'order:paid',
    'x-service-webhook': 'whl_1',
    'x-service-signature': sign(Buffer.from(body), SECRET),
  },
  body,
  isBase64Encoded: false,
};

test('a process that Lambda freezes with its response has delivered the goods of an order once', async () => {
  const program = await compileProgram('test/full/frozen/inside/lambda.ts', 'sources');
  let freeze = () => {};
  let isInvoked = false;
  let answer: (result: unknown) => void = () => {};
  const answered = new Promise<unknown>((resolve) => {
    answer = resolve;
  });
  const host = new Host(async (request, response) => {
    if (request.url?.endsWith('/response')) {
      // The platform has the response, so it freezes the process before the process gets a reply.
      const result = await json(request);
      freeze();
      answer(result);
    } else if (!isInvoked) {
      isInvoked = true;
      response.setHeader('lambda-runtime-aws-request-id', '1');
      response.setHeader('lambda-runtime-deadline-ms', String(Date.now() + 30_000));
      response.end(JSON.stringify(EVENT));
    }
  });
  const child = spawn(process.execPath, [program, await host.listen()], { stdio: 'inherit' });
  freeze = () => void child.kill('SIGSTOP');
  try {
    expect(await answered).toMatchObject({ statusCode: 200 });
    await host.updateOrder();
    expect(host.goods).toEqual(['ord_1']);
  } finally {
    child.kill('SIGKILL');
    host.close();
  }
});
