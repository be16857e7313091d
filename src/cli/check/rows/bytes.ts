import { sign } from 'storefront-webhooks/testing';
import { draft } from '../orders.js';
import { AT_MOST_ONCE, ONCE, type Row } from '../trial.js';

const RAW =
  'Verify the bytes as they arrived, before a parser: mount the receiver above express.json(), or use express.raw() for this route. JSON.stringify(req.body) is another text.';

/** Returns a row with a genuine order whose JSON is written in another way. */
function written(
  name: string,
  title: string,
  changes: Readonly<Record<string, unknown>>,
  rewrite: (text: string) => string,
): Row {
  return {
    name,
    title,
    goods: ONCE,
    change: RAW,
    async run(trial) {
      const body = rewrite(trial.bodyOf(trial.newOrder(), changes));
      await trial.take(draft('order:paid', body));
    },
  };
}

const escaped = (text: string) =>
  text
    .replaceAll('/', '\\/')
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const TITLE = { product_title: 'Größe – 音 🎵', custom: { see: 'https://shop.example/a/b' } };

/** The rows with genuine deliveries whose bytes are written or sent in another way. */
export const bytes: readonly Row[] = [
  written('unicode', 'a title beyond ASCII', TITLE, (text) => text),
  written('escapes', 'slashes and letters escaped', TITLE, escaped),
  written('numbers', 'an amount that is written 10.0', { value: '10.0' }, (text) =>
    text.replace(/"value":\s*"10\.0"/, '"value":10.0'),
  ),
  written('spaces', 'white space between members', {}, (text) =>
    text.replace(/^\{/, '{ ').replace(/\}$/, ' }\n'),
  ),
  {
    name: 'split',
    title: 'the body in many pieces',
    goods: ONCE,
    change:
      'Collect all pieces as bytes, and decode them at the end: a piece may end within a character.',
    async run(trial) {
      const pieces = 200;
      await trial.take(trial.paid(TITLE), { pieces });
      await trial.take(trial.paid(TITLE), { pieces, chunked: true });
    },
  },
  {
    name: 'slow',
    title: 'the body in drips over 2 s',
    goods: ONCE,
    change: 'Give a body about 10 s to arrive (bodyTimeout).',
    async run(trial) {
      await trial.take(trial.paid(), { pieces: 20, pauseMs: 100 });
    },
  },
  {
    name: 'header-case',
    title: 'header names in any case',
    goods: ONCE,
    change: 'Header names are case-insensitive (RFC 9110): look them up in lower case.',
    async run(trial) {
      for (const rename of [lower, upper]) {
        await trial.take(trial.paid(), {
          headers: (all) => all.map(([name, value]) => [rename(name), value]),
        });
      }
    },
  },
  {
    name: 'headers-twice',
    title: 'event and signature given twice',
    goods: AT_MOST_ONCE,
    when: 'alone',
    change:
      'Reject a repeated header with 400 or 401: runtimes join both values with a comma, or drop one.',
    async run(trial) {
      for (const twice of [/Event$/, /Signature$/]) {
        const headers = (all: readonly (readonly [string, string])[]) => [
          ...all,
          ...all.filter(([name]) => twice.test(name)),
        ];
        const answer = await trial.send(trial.paid(), { headers });
        trial.complainOfFailure(answer, 'a repeated header');
      }
    },
  },
  {
    name: 'uppercase',
    title: 'the signature in upper case',
    goods: ONCE,
    change:
      "Compare bytes and not text: Buffer.from(signature, 'hex') reads both cases, and so does verifySignature().",
    async run(trial) {
      const paid = trial.paid();
      const signature = sign(paid.body, trial.setting.secret).toUpperCase();
      await trial.take(paid, { signature });
    },
  },
  {
    name: 'content-type',
    title: 'a content type with a charset',
    goods: ONCE,
    change:
      'Do not compare the content type as a whole: it may have parameters, and be in any case.',
    async run(trial) {
      for (const contentType of [
        'application/json; charset=utf-8',
        'Application/JSON;charset=UTF-8',
      ]) {
        await trial.take(trial.paid(), { contentType });
      }
    },
  },
];

function lower(name: string): string {
  return name.toLowerCase();
}

function upper(name: string): string {
  return name.toUpperCase();
}
