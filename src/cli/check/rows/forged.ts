import { createHmac } from 'node:crypto';
import { sign } from 'storefront-webhooks/testing';
import { draft } from '../orders.js';
import { NEVER, type Row } from '../row.js';

const FOR_FREE = 'None has paid: whoever finds the address has your goods for free.';
const VERIFY =
  'Verify the HMAC-SHA512 of the raw body before anything else, and answer 401. createReceiver({ secret }) does; by hand, as verifySignature(rawBody, signature, secret).';

/** What is not genuine. */
export const forged: readonly Row[] = [
  {
    name: 'tampered',
    title: 'unpaid, made paid on the way',
    goods: NEVER,
    when: 'alone',
    change: VERIFY,
    async run(trial) {
      const order = trial.newOrder();
      const unpaid = draft('order:paid', trial.bodyOf(order, { status: 0 }));
      await trial.refuse(unpaid, { body: trial.bodyOf(order) }, FOR_FREE);
      const paid = trial.paid();
      const middle = paid.body.length >> 1;
      const flipped = paid.body.map((byte, at) => (at === middle ? byte ^ 1 : byte));
      await trial.refuse(paid, { body: flipped }, FOR_FREE);
    },
  },
  {
    name: 'unsigned',
    title: 'without a signature',
    goods: NEVER,
    when: 'alone',
    change: VERIFY,
    async run(trial) {
      await trial.refuse(trial.paid(), { signature: null }, FOR_FREE);
      await trial.refuse(trial.paid(), { signature: '' }, FOR_FREE);
    },
  },
  {
    name: 'other-secret',
    title: 'signed with another secret',
    goods: NEVER,
    when: 'alone',
    change: VERIFY,
    async run(trial) {
      // The last three are what a secret is that was not set.
      for (const secret of [crypto.randomUUID(), 'undefined', 'null', '']) {
        const paid = trial.paid();
        // sign() refuses such secrets.
        const signature = createHmac('sha512', secret).update(paid.body).digest('hex');
        await trial.refuse(paid, { signature }, FOR_FREE);
      }
    },
  },
  {
    name: 'other-body',
    title: 'with the signature of another',
    goods: NEVER,
    when: 'alone',
    change: VERIFY,
    async run(trial) {
      const { orders, secret } = trial.setting;
      const signature = sign(orders.text(orders.newId()), secret);
      await trial.refuse(trial.paid(), { signature }, FOR_FREE);
    },
  },
  {
    name: 'odd-signature',
    title: 'short, long and odd signatures',
    goods: NEVER,
    when: 'alone',
    change:
      'Look at the length before timingSafeEqual, which throws where lengths differ: verifySignature() does.',
    async run(trial) {
      const paid = trial.paid();
      const right = sign(paid.body, trial.setting.secret);
      const odd = [right.slice(0, 2), right.slice(0, 64), `${right}00`, 'z'.repeat(128), 'sha512='];
      for (const signature of odd) await trial.refuse(paid, { signature }, FOR_FREE);
    },
  },
  {
    name: 'echo',
    title: 'what answers must not tell',
    // Whether unpaid orders are handed out, another row asks.
    goods: [0, 2],
    when: 'alone',
    change:
      'Answer with a fixed text, and log the error: an error handler that sends error.message or a stack tells what it holds.',
    async run(trial) {
      const { secret } = trial.setting;
      // Short, because a parser's error quotes only some letters of what it could not read.
      const canary = `leak${crypto.randomUUID().slice(0, 8)}`;
      const email = `${canary}@example.com`;
      const order = trial.newOrder();
      const body = trial.bodyOf(order, { status: 0, email });
      const text = (changed: string) => draft('order:paid', changed);
      const cases = [
        { delivery: text(body), faults: { signature: '0'.repeat(128) } },
        { delivery: text(body), faults: {} },
        { delivery: text(`[${canary}]`), faults: {} },
        { delivery: text(JSON.stringify({ status: canary, email })), faults: {} },
      ];
      for (const { delivery, faults } of cases) {
        const answer = await trial.send(delivery, faults);
        const told = `${JSON.stringify(answer.headers)}${answer.body}`;
        const found = [
          [canary, 'what the buyer wrote'],
          [secret.length < 8 ? '' : secret, 'the secret'],
          [sign(delivery.body, secret), 'the right signature'],
        ].find(([needle]) => needle && told.includes(needle));
        if (found === undefined) continue;
        trial.complain(
          `The answer ${answer.status} holds ${found[1]}.`,
          found[1] === 'what the buyer wrote'
            ? "A customer's data are in the provider's log, and with whoever sends such a request."
            : FOR_FREE,
        );
      }
    },
  },
];
