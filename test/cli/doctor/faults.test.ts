import { createHash, createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CAUSES, type CauseCode } from '../../../src/cli/doctor/cause.js';
import { diagnose } from '../../../src/cli/doctor/diagnose.js';
import { compareHops } from '../../../src/cli/doctor/hop.js';
import { isNightly } from '../../support/tier.js';
import recorded from './recorded.json' with { type: 'json' };
import tools from './tools.json' with { type: 'json' };

const secret = 'AAAA+b/c-secret-of-the-shop=';
const apiKey = 'sk_live_of-the-shop';
const keys = (own = secret, others: readonly string[] = []) => ({
  secrets: [
    { name: 'OWN', secret: own },
    ...others.map((one, index) => ({ name: `OTHER_${index}`, secret: one })),
  ] as const,
  apiKeys: [{ name: 'API_KEY', secret: apiKey }],
});

type Bytes = Uint8Array | string;

const hmac = (body: Bytes, key: Bytes = secret, digest = 'sha512') =>
  createHmac(digest, key).update(body).digest();
const hex = (body: Bytes, key?: Bytes, digest?: string) => hmac(body, key, digest).toString('hex');

/** The body as Python writes it. The recording is compared with a real Python in test/full/. */
const python = (write: keyof typeof recorded.python) => Buffer.from(recorded.python[write]);
const dumps = (
  options: '' | ', ensure_ascii=False' | ', indent=2' | ', indent=4' | ', separators=(",", ":")',
) => python(`json.dumps(json.loads(sys.stdin.buffer.read())${options}).encode()`);

/** Parses JSON, and writes it with JSON.stringify. */
const parsed = (body: Bytes) => JSON.stringify(JSON.parse(Buffer.from(body).toString()));
const { body: sent, php, ruby } = recorded;
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** The sent body, the received one, and the expected causes. */
const BODIES: Record<string, readonly [sent: Bytes, seen: Bytes, ...codes: CauseCode[]]> = {
  'Python, parsed': [dumps(''), parsed(dumps('')), 'number_rewritten', 'reserialized'],
  'Python without ASCII': [dumps(', ensure_ascii=False').toString(), sent, 'reserialized'],
  'Python, compact': [dumps(', separators=(",", ":")'), sent, 'reserialized'],
  'Python, indented': [dumps(', indent=2'), sent, 'reserialized'],
  'Python, indented, with a line end': [
    `${dumps(', indent=4')}\n`,
    sent,
    'reserialized',
    'line_end_lost',
  ],
  'sorted by a hop': [
    '{"id":"ord_1","email":"a@b.c","currency":"EUR","status":100}',
    '{"currency":"EUR","email":"a@b.c","id":"ord_1","status":100}',
    'members_reordered',
  ],
  PHP: [php['json_encode 0'], parsed(php['json_encode 0']), 'reserialized'],
  'PHP without slashes': [php['json_encode 64'], parsed(php['json_encode 0']), 'reserialized'],
  'PHP with letters': [php['json_encode 256'], parsed(php['json_encode 0']), 'reserialized'],
  'PHP, indented': [php['json_encode 128'], parsed(php['json_encode 0']), 'reserialized'],
  'PHP, for HTML': [php['json_encode 15'], parsed(php['json_encode 0']), 'reserialized'],
  'PHP with .0': [
    php['json_encode 1024'],
    parsed(php['json_encode 0']),
    'number_rewritten',
    'reserialized',
  ],
  'PHP with 17 digits': [
    php['precision 17'],
    parsed(php['json_encode 0']),
    'number_rewritten',
    'reserialized',
  ],
  'PHP, whose arrays are empty': [
    ruby.generate.replace('10.0', '10'),
    php['json_encode 320'],
    'value_rewritten',
  ],
  'PHP form': [php.http_build_query, php['precision 17'], 'form_decoded'],
  'a form around it': [php['precision 17'], php.http_build_query, 'form_encoded'],
  Ruby: [ruby.generate, parsed(ruby.generate), 'number_rewritten'],
  'Ruby, indented': [ruby.pretty, ruby.generate, 'reserialized'],
  'Ruby, script_safe': [ruby.script_safe, ruby.generate, 'reserialized'],
  'Ruby, printed': [ruby.generate, ruby.inspect, 'reserialized', 'printed'],
  'Python, printed': [
    dumps(', ensure_ascii=False'),
    python('str(json.loads(sys.stdin.buffer.read())).encode()'),
    'printed',
  ],
  'Python bytes, printed': [sent, python('str(sys.stdin.buffer.read()).encode()'), 'printed'],
  'a line end gained': [sent, `${sent}\n`, 'line_end_gained'],
  'a line end lost': [`${sent}\n`, sent, 'line_end_lost'],
  'CRLF gained': [ruby.pretty, ruby.pretty.replaceAll('\n', '\r\n'), 'line_ends_converted'],
  'CRLF lost': [ruby.pretty.replaceAll('\n', '\r\n'), ruby.pretty, 'line_ends_converted'],
  'lines joined, as by curl -d': [ruby.pretty, ruby.pretty.replaceAll('\n', ''), 'reserialized'],
  'a BOM gained': [sent, `\ufeff${sent}`, 'bom_gained'],
  'a BOM lost': [`\ufeff${sent}`, sent, 'bom_lost'],
  'decoded as Latin-1': [
    ruby.generate.replaceAll('€', 'E'),
    latin1(ruby.generate.replaceAll('€', 'E'))
      .toString('latin1')
      .replace(/[\s\S]*/, (all) => Buffer.from(all).toString('latin1')),
    'charset_converted',
  ],
  'written in Latin-1': ['{"a":"é"}', latin1('{"a":"é"}'), 'charset_converted'],
  'written in UTF-16': [sent, Buffer.from(sent, 'utf16le'), 'charset_converted'],
  'encoded twice': [sent, JSON.stringify(sent), 'encoded_twice'],
  Base64: [sent, Buffer.from(sent).toString('base64'), 'base64_encoded'],
  compressed: [sent, gzipSync(sent), 'compressed'],
  'a Buffer as JSON': [sent, JSON.stringify(Buffer.from(sent)), 'printed'],
  'an event of Lambda': [sent, JSON.stringify({ body: sent, isBase64Encoded: false }), 'wrapped'],
  chunks: [sent, `${Buffer.byteLength(sent).toString(16)}\r\n${sent}\r\n0\r\n\r\n`, 'framed'],
  'escaped for HTML': [
    sent,
    sent.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
    'escaped',
  ],
  'more text after it': [sent, `${sent}{"more":1}`, 'bytes_gained'],
  'a long number': [
    '{"id":1234567890123456789}',
    parsed('{"id":1234567890123456789}'),
    'number_rewritten',
  ],
  'a decoded text': [JSON.stringify(sent), sent, 'decoded'],
  unpacked: [gzipSync(sent), sent, 'decompressed'],
  'in hexadecimal': [sent, Buffer.from(sent).toString('hex'), 'hex_encoded'],
  'in another Unicode form': [sent, sent.normalize('NFD'), 'normalized'],
  'cut short': [sent, sent.slice(0, -1), 'cut_short'],
  'a log line around it': [sent, `10:00 [info] body ${sent} (ok)`, 'bytes_gained'],
  'members in another order': [
    '{"id":"ord_1","status":100,"custom":{"nick":"x","age":"9","city":"y"}}',
    '{"custom":{"age":"9","city":"y","nick":"x"},"id":"ord_1","status":100}',
    'members_reordered',
  ],
  dates: [
    '{"at":"2026-11-20T10:00:05.000000+00:00"}',
    '{"at":"2026-11-20T10:00:05Z"}',
    'date_rewritten',
  ],
};

/** A signature of the body, the given key, and the expected causes. */
const SIGNATURES: Record<string, readonly [signature: string, own: string, ...codes: CauseCode[]]> =
  {
    'a line end in the secret': [hex(sent), `${secret}\n`, 'secret_white_space'],
    'quotes around the secret': [hex(sent), `"${secret}"`, 'secret_quoted'],
    'a prefix of the secret': [hex(sent), `whsec_${secret}`, 'secret_prefix'],
    'a secret in Base64': [hex(sent, Buffer.from(secret, 'base64')), secret, 'secret_encoding'],
    'a prefix before Base64': [
      hex(sent, Buffer.from('QUJDREVGRw==', 'base64')),
      'whsec_QUJDREVGRw==',
      'secret_prefix',
      'secret_encoding',
    ],
    'a secret in a URL': [hex(sent, 'a+b/c'), 'a%2Bb%2Fc', 'secret_encoding'],
    'the API key': [hex(sent, apiKey), secret, 'api_key'],
    'a secret that was pasted twice': [hex(sent), secret + secret, 'secret_twice'],
    'a secret without its first character': [hex(sent), secret.slice(1), 'secret_short'],
    'a secret without its last character': [hex(sent), secret.slice(0, -1), 'secret_short'],
    'a signer without the last character': [
      hex(sent, secret.slice(0, -2)),
      secret.slice(0, -1),
      'secret_cut',
    ],
    'a bullet before the secret': [hex(sent), `- ${secret}`, 'secret_prefix'],
    'no secret': [hex(sent, 'undefined'), secret, 'known_secret'],
    'a secret in another case': [hex(sent, secret.toUpperCase()), secret, 'secret_case'],
    'the SHA-256 of the secret': [
      hex(sent, createHash('sha256').update(secret).digest()),
      secret,
      'secret_encoding',
    ],
    'a space after the signature': [`${hex(sent)} `, secret, 'signature_white_space'],
    'two signatures': [`${hex('more')}, ${hex(sent)}`, secret, 'signature_twice'],
    'SHA-256': [hex(sent, secret, 'sha256'), secret, 'other_digest'],
    'SHA-1': [hex(sent, secret, 'sha1'), secret, 'other_digest'],
    'SHA-384': [hex(sent, secret, 'sha384'), secret, 'other_digest'],
    'a signature in Base64': [hmac(sent).toString('base64'), secret, 'signature_encoding'],
    'a signature for URLs': [hmac(sent).toString('base64url'), secret, 'signature_encoding'],
    'a prefix of the signature': [`sha512=${hex(sent)}`, secret, 'signature_prefix'],
    'a signature cut short': [hex(sent).slice(0, 64), secret, 'signature_cut'],
    'no key': [createHash('sha512').update(sent).digest('hex'), secret, 'no_hmac'],
    swapped: [hex(secret, sent), secret, 'swapped'],
    'Base64 of the body': [hex(Buffer.from(sent).toString('base64')), secret, 'other_message'],
    'a version and a time before the body': [
      `t=1763650000,v1=${hex(`v0:1763650000:${sent}`)}`,
      secret,
      'other_message',
      'signature_prefix',
    ],
    'a time before the body': [
      `t=1763650000,v1=${hex(`1763650000.${sent}`)}`,
      secret,
      'other_message',
      'signature_prefix',
    ],
  };

/** Selects recordings of tools: all of them in the nightly tier, every sixth elsewhere. */
const some = <Kind extends { readonly by: string }>(made: readonly Kind[]) =>
  made.filter((_, at) => isNightly || at % 6 === 0).map((one) => [one.by, one] as const);

/** Returns a sent body by its name in the recordings. Default: the record. */
const sentAs = (of: string = 'record') =>
  Object.entries(tools.sent).find(([name]) => name === of)?.[1] ?? '';

const codesOf = (diagnosis: ReturnType<typeof diagnose>) =>
  diagnosis.result === 'explained' ? diagnosis.steps.map(({ code }) => code) : [diagnosis.result];

const undoneIn = (diagnosis: ReturnType<typeof diagnose>) =>
  diagnosis.result === 'explained' ? Buffer.from(diagnosis.sent).toString() : '';

describe('the doctor names', () => {
  test.each(Object.entries(BODIES))('%s', (_, [signed, seen, ...codes]) => {
    const found = diagnose({ body: Buffer.from(seen), signature: hex(signed) }, keys());
    expect(codesOf(found)).toEqual(codes);
    expect(undoneIn(found)).toBe(Buffer.from(signed).toString());
  });

  test.each(Object.entries(SIGNATURES))('%s', (_, [signature, own, ...codes]) => {
    expect(codesOf(diagnose({ body: Buffer.from(sent), signature }, keys(own)))).toEqual(codes);
  });

  test('a match with another secret, but never the secret itself', () => {
    const signature = hex(sent, 'the-other');
    const found = diagnose({ body: Buffer.from(sent), signature }, keys(secret, ['the-other']));
    expect(codesOf(found)).toEqual(['other_secret']);
    expect(JSON.stringify(found)).toContain('OTHER_0');
    expect(JSON.stringify(found)).not.toMatch(/the-other|AAAA\+b/);
  });

  test('a genuine delivery, in upper and lower case', () => {
    for (const signature of [hex(sent), hex(sent).toUpperCase()])
      expect(diagnose({ body: Buffer.from(sent), signature }, keys()).result).toBe('genuine');
  });

  test.each(some(tools.received))('%s', (_, one) => {
    const signed = sentAs(one.of);
    const body =
      one.base64 === undefined ? Buffer.from(one.text ?? '') : Buffer.from(one.base64, 'base64');
    const found = diagnose({ body, signature: hex(signed) }, keys());
    expect(codesOf(found)).toEqual(one.causes);
    // If another message was signed, the signed bytes are not the body.
    if (!one.causes.includes('other_message')) expect(undoneIn(found)).toBe(signed);
  });

  test.each(some(tools.messages))(
    'another message: %s',
    (_, { of, signature, headers = [], causes }) => {
      const named = headers.map(([name = '', value = '']) => [name, value] as const);
      const received = { body: Buffer.from(sentAs(of)), signature, headers: named };
      expect(codesOf(diagnose(received, keys()))).toEqual(causes);
    },
  );

  test.each(some(tools.keys))(
    'another key: %s',
    (_, { of, secret: own, signature, headers = [], causes }) => {
      const named = headers.map(([name = '', value = '']) => [name, value] as const);
      const received = { body: Buffer.from(sentAs(of)), signature, headers: named };
      const found = diagnose(received, keys(own));
      expect(codesOf(found)).toEqual(causes);
      expect(JSON.stringify(found)).not.toContain(own);
    },
  );

  test.each(some(tools.signatures))('a signature by %s', (_, { signature, causes }) => {
    const body = Buffer.from(tools.sent.record);
    expect(codesOf(diagnose({ body, signature }, keys()))).toEqual(causes);
  });

  test('the offset of the first differing byte', () => {
    const found = diagnose({ body: Buffer.from('{"a":1}'), signature: hex('{"a": 1}') }, keys());
    expect(found).toMatchObject({
      difference: {
        at: 5,
        seen: { hex: '7b 22 61 22 3a 31 7d', text: '{"a":1}' },
        sent: { hex: '7b 22 61 22 3a 20 31 7d', text: '{"a": 1}' },
      },
    });
  });

  test('the hop that cut a body short, by two recordings', () => {
    const signature = hex(sent);
    const earlier = { body: Buffer.from(sent), signature };
    const here = { body: Buffer.from(sent).subarray(0, 40), signature };
    expect(compareHops(here, earlier, keys())).toMatchObject({
      changed: 'between',
      steps: [{ code: 'cut_short' }],
      difference: { at: 40 },
    });
    expect(compareHops(earlier, earlier, keys()).changed).toBe('nowhere');
    const forged = { body: Buffer.from(sent.replace('19.9', '0.9')), signature };
    expect(compareHops(forged, earlier, keys()).steps).toMatchObject([{ code: 'changed' }]);
  });
});

test('every cause that the doctor can name has a fault here', () => {
  const named = [
    ...[...Object.values(BODIES), ...Object.values(SIGNATURES)].flatMap(([, , ...codes]) => codes),
    ...[tools.received, tools.messages, tools.keys, tools.signatures].flatMap((some) =>
      some.flatMap(({ causes }) => causes),
    ),
  ];
  // The doctor finds these two only with two recordings, or with further keys.
  expect(CAUSES.filter((code) => !named.includes(code))).toEqual(['changed', 'other_secret']);
});
