import { type LambdaEvent, toLambda } from 'storefront-webhooks/lambda';
import { makeShop } from './shop.js';

/**
 * The runtime of a Lambda function, as AWS documents its interface: asks for the next event, and posts the response.
 * The platform freezes the process as soon as it has the response.
 */
const host = process.argv[2] ?? '';
const invocations = `${host}/2018-06-01/runtime/invocation`;
const handler = toLambda(() => makeShop(host));

for (;;) {
  const next = await fetch(`${invocations}/next`);
  const id = next.headers.get('lambda-runtime-aws-request-id');
  const deadline = Number(next.headers.get('lambda-runtime-deadline-ms'));
  const event = (await next.json()) as LambdaEvent;
  const result = await handler(event, { getRemainingTimeInMillis: () => deadline - Date.now() });
  await fetch(`${invocations}/${id}/response`, { method: 'POST', body: JSON.stringify(result) });
}
