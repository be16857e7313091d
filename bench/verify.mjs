import { createHmac, timingSafeEqual } from 'node:crypto';
import { verify as octokitVerify } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { verifySignature } from '../dist/index.js';
import { measure, print } from './measure.mjs';
import { orderBody } from './payload.mjs';

/** Compares `verifySignature` with the usual check by hand, and with other libraries. */
export async function benchVerify() {
  for (const bytes of [1024, 4096, 65_536]) {
    const times = await measure(contenders(orderBody(bytes)), {
      batch: bytes > 10_000 ? 40 : 200,
      rounds: 60,
    });
    print(`verifySignature, ${bytes / 1024} KB`, times);
  }
}

function contenders(body) {
  const secret = 'an-account-secret-of-usual-length';
  const text = body.toString();
  const signature = createHmac('sha512', secret).update(body).digest('hex');

  const octokitSignature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

  const stripe = new Stripe('sk_test_unused');
  const stripeHeader = stripe.webhooks.generateTestHeaderString({ payload: text, secret });

  const whsec = `whsec_${Buffer.from(secret).toString('base64')}`;
  const svix = new SvixWebhook(whsec);
  const standard = new StandardWebhook(whsec);
  const now = new Date();
  const id = 'msg_1';
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const svixHeaders = {
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': svix.sign(id, now, text),
  };
  const standardHeaders = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.sign(id, now, text),
  };

  return {
    'by hand: createHmac + timingSafeEqual': () => {
      const expected = createHmac('sha512', secret).update(body).digest();
      const given = Buffer.from(signature, 'hex');
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    verifySignature: () => verifySignature(body, signature, secret),
    'octokit verify() (SHA-256)': () => octokitVerify(secret, text, octokitSignature),
    'stripe constructEvent() (SHA-256, parses)': () =>
      stripe.webhooks.constructEvent(text, stripeHeader, secret, Number.MAX_SAFE_INTEGER),
    'svix verify() (SHA-256, parses)': () => svix.verify(text, svixHeaders),
    'standardwebhooks verify() (SHA-256, parses)': () => standard.verify(text, standardHeaders),
  };
}
