import { createHmac } from 'node:crypto';
import { sign } from 'storefront-webhooks/testing';
import { draft } from '../orders.js';
import { NEVER, type Row } from '../trial.js';

const FOR_FREE = 'No customer has paid: anyone who finds the address gets your goods for free.';
const VERIFY =
  'Verify the HMAC-SHA512 of the raw body before anything else, and answer 401. createReceiver({ secret }) does this. By hand: verifySignature(rawBody, signature, secret).';

/** The rows with deliveries that are not genuine. */
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
      // The last three are what signers use if the secret is not set.
      for (const secret of [crypto.randomUUID(), 'undefined', 'null', '']) {
        const paid = trial.paid();
        // sign() throws on such secrets.
        const signature = createHmac('sha512', secret).update(paid.body).digest('hex');
        await trial.refuse(paid, { signature }, FOR_FREE);
      }
    },
  },
  {
    name: 'other-body',
    title: "with another body's signature",
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
      'Check the length before timingSafeEqual, which throws if the lengths differ. verifySignature() does this.',
    async run(trial) {
      const paid = trial.paid();
      const right = sign(paid.body, trial.setting.secret);
      const odd = [right.slice(0, 2), right.slice(0, 64), `${right}00`, 'z'.repeat(128), 'sha512='];
      for (const signature of odd) {
        const { status } = await trial.refuse(paid, { signature }, FOR_FREE);
        // Further waits for an answer would use up the time of the run.
        if (status === 0) return;
      }
    },
  },
  {
    name: 'echo',
    title: 'what answers must not reveal',
    // Another row tests whether unpaid orders get goods.
    goods: [0, 2],
    when: 'alone',
    change:
      'Answer with a fixed text, and log the error: an error handler that sends error.message or a stack reveals what they contain.',
    async run(trial) {
      const { secret } = trial.setting;
      // Short, because the error of a parser quotes only some characters of its input.
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
          `The answer ${answer.status} contains ${found[1]}.`,
          found[1] === 'what the buyer wrote'
            ? "A customer's data gets into the provider's log, and to anyone who sends such a request."
            : FOR_FREE,
        );
      }
    },
  },
];
