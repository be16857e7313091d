import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { UsageError } from 'storefront-webhooks';
import { type Fixture, loadFixture, shippedFixtures } from 'storefront-webhooks/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { mergePatch } from '../../src/testing/merge-patch.js';

const folder = mkdtempSync(join(tmpdir(), 'storefront-webhooks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const TEXT = '{"id":"ord_1","status":100,"value":10.0}';
const base = {
  v: 1,
  event: 'order:paid',
  headers: [
    ['Content-Type', 'application/json'],
    ['X-Service-Event', 'order:paid'],
    ['X-Service-Webhook', 'whl_1'],
  ],
  body: { text: TEXT },
};

function save(name: string, content: unknown): string {
  const file = join(folder, `${name}.hook.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const textOf = ({ body }: Fixture) => new TextDecoder().decode(body);

/** Matches the error of a rejected file: a `fixture_invalid` that names the file. */
function refusalOf(file: string): string {
  try {
    loadFixture(file);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ code: 'fixture_invalid' });
    const message = String(error);
    expect(message).toContain(file);
    return message;
  }
  throw new Error(`expected ${file} to be refused`);
}

describe('a fixture', () => {
  test('is loaded byte for byte, with defaults for missing fields', () => {
    const file = save('minimal', base);
    const fixture = loadFixture(file);
    expect({ ...fixture, body: textOf(fixture) }).toEqual({
      file,
      event: 'order:paid',
      description: '',
      method: 'POST',
      headers: base.headers,
      body: TEXT,
      signing: 'resign',
      redacted: [],
      expect: undefined,
    });
  });

  test('may set every field', () => {
    const file = save('full', {
      ...base,
      description: 'a paid order',
      method: 'PUT',
      body: {
        text: TEXT,
        bytes: TEXT.length,
        sha256: createHash('sha256').update(TEXT).digest('hex'),
      },
      signing: 'omit',
      redacted: ['/email'],
      expect: { status: 405, outcome: 'rejected' },
    });
    expect(loadFixture(file)).toMatchObject({
      description: 'a paid order',
      method: 'PUT',
      signing: 'omit',
      redacted: ['/email'],
      expect: { status: 405, outcome: 'rejected' },
    });
  });

  test('may contain any bytes, in Base64', () => {
    const bytes = Uint8Array.of(0, 0xff, 0xfe, 0x0d, 0x0a, 0x80);
    const base64 = Buffer.from(bytes).toString('base64');
    const { body } = loadFixture(save('base64', { ...base, body: { base64, bytes: 6 } }));
    expect([...body]).toEqual([...bytes]);
  });

  test('may contain text beyond ASCII, whose length is counted in bytes', () => {
    const body = { text: '{"a":"∞ é 😀\\r\\n"}', bytes: 23 };
    expect(Buffer.byteLength(body.text)).toBe(23);
    expect(textOf(loadFixture(save('beyond-ascii', { ...base, body })))).toBe(body.text);
  });

  test('is also found relative to the working directory', () => {
    const file = save('relative', base);
    expect(loadFixture(relative(process.cwd(), file)).file).toBe(file);
  });

  test('with a wrong length is rejected', () => {
    const body = { text: TEXT, bytes: TEXT.length + 1 };
    const message = refusalOf(save('length', { ...base, body }));
    expect(message).toContain(
      `its body has ${TEXT.length} bytes, but body.bytes says ${TEXT.length + 1}`,
    );
  });

  test('with a wrong hash is rejected', () => {
    const sha256 = createHash('sha256').update(`${TEXT} `).digest('hex');
    const message = refusalOf(save('hash', { ...base, body: { text: TEXT, sha256 } }));
    expect(message).toContain(createHash('sha256').update(TEXT).digest('hex'));
    expect(message).toContain(`but body.sha256 says ${sha256}`);
  });

  test('with invalid characters in Base64 is rejected', () => {
    refusalOf(save('base64-junk', { ...base, body: { base64: 'e30=!!not base64' } }));
  });

  test('that does not exist is rejected', () => {
    expect(refusalOf(join(folder, 'nowhere.hook.json'))).toContain('there is no such file');
  });

  test.each(['', '{', 'null,', "{'v': 1}"])(
    'that is not a JSON object, such as %j, is rejected',
    (content) => {
      expect(refusalOf(save('not-json', content))).toContain('it is not valid JSON');
    },
  );

  test.each([
    ['the whole', null],
    ['the whole', []],
    ['the whole', { ...base, sinature: 'resign' }],
    ['v', { ...base, v: 2 }],
    ['event', { ...base, event: undefined }],
    ['headers.1', { ...base, headers: [['A', 'b'], ['C']] }],
    ['headers', { ...base, headers: { A: 'b' } }],
    ['body', { ...base, body: TEXT }],
    ['body', { ...base, body: { text: TEXT, md5: '' } }],
    ['body', { ...base, body: { text: TEXT, base64: '' } }],
    ['signing', { ...base, signing: 'again' }],
    ['expect.outcome', { ...base, expect: { status: 200, outcome: 'done' } }],
    ['the whole', { ...base, merge: {} }],
    ['the whole', { v: 1, extends: './minimal.hook.json', body: { text: '' } }],
  ])('of another format is rejected with the faulty place: %s', (where, content) => {
    const message = refusalOf(save('format', content));
    expect(message).toContain('fixture format, version 1');
    expect(message).toContain(`Look at: ${where}`);
  });
});

describe('a variant', () => {
  const vary = (changes: object) =>
    loadFixture(save('variant', { v: 1, extends: './base.hook.json', ...changes }));
  const saved = {
    ...base,
    description: 'a paid order',
    signing: 'omit',
    redacted: ['/email'],
    expect: { status: 200, outcome: 'handled' },
  };
  save('base', saved);

  test('has the values of its base by default', () => {
    const { file, ...variant } = vary({});
    const { file: baseFile, ...rest } = loadFixture(join(folder, 'base.hook.json'));
    expect(variant).toEqual(rest);
    expect(file).not.toBe(baseFile);
    expect(textOf(vary({}))).toBe(TEXT);
  });

  test('overrides the given values', () => {
    const changes = {
      description: 'another',
      method: 'GET',
      signing: 'corrupt',
      redacted: [],
      expect: { status: 405, outcome: 'rejected' },
    };
    expect(vary(changes)).toMatchObject(changes);
  });

  test('merges into the body, which is then compact JSON', () => {
    const merge = { status: 51, value: null, custom: { a: 1 } };
    expect(textOf(vary({ merge }))).toBe('{"id":"ord_1","status":51,"custom":{"a":1}}');
    expect(textOf(vary({ merge: {} }))).toBe('{"id":"ord_1","status":100,"value":10.0}');
    expect(textOf(vary({ merge: null }))).toBe('null');
  });

  test("keeps the notation of each number, even beyond JavaScript's precision", () => {
    const numbers = '9007199254740993,1.10,1e400,-0,1E5,12.0e-3,0,-7,0.5,1e+21';
    const text = `{"a":[${numbers}],"b":"1.10 \\" 1.10","c":2.50}`;
    save('numbers', { ...base, body: { text } });
    const patch = '{"b":"3.10","d":{"e":4.40}}';
    const file = save(
      'exact',
      `{"v":1,"extends":"./numbers.hook.json","headers":[],"merge":${patch}}`,
    );
    expect(textOf(loadFixture(file))).toBe(`{"a":[${numbers}],"b":"3.10","c":2.50,"d":{"e":4.40}}`);
    const same = save('same', { v: 1, extends: './numbers.hook.json', merge: {} });
    expect(textOf(loadFixture(same))).toBe(text);
  });

  test('merges into a body with a text of 16 MB', () => {
    const text = `{"a":"${'a'.repeat(16_000_000)}","b":1.10}`;
    save('huge', { ...base, body: { text } });
    const file = save('merging-huge', { v: 1, extends: './huge.hook.json', merge: { c: 1 } });
    // Compared before `expect`: a failure would print both.
    expect(textOf(loadFixture(file)) === `${text.slice(0, -1)},"c":1}`).toBe(true);
  });

  test('that is nested too deeply to be serialised is rejected', () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const text = `{"v":1,"extends":"./base.hook.json","merge":${deep}}`;
    expect(refusalOf(save('deep', text))).toContain('nested too deeply');
  });

  test('replaces headers of the same name, in any case, and may repeat one', () => {
    const headers = [
      ['x-service-WEBHOOK', 'whl_2'],
      ['X-Service-Webhook', 'whl_3'],
      ['X-Other', 'a'],
    ];
    expect(vary({ headers }).headers).toEqual([...base.headers.slice(0, 2), ...headers]);
  });

  test('with another event has it in the header as well, unless it sets the header itself', () => {
    const eventHeaders = ({ headers }: Fixture) =>
      headers.filter(([name]) => name.toLowerCase() === 'x-service-event');
    const renamed = vary({ event: 'order:updated' });
    expect(renamed.event).toBe('order:updated');
    expect(eventHeaders(renamed)).toEqual([['X-Service-Event', 'order:updated']]);
    const headers = [['x-service-event', 'order:forged']];
    expect(eventHeaders(vary({ event: 'order:updated', headers }))).toEqual(headers);
  });

  test.each([
    ['in lower case', 'x-brand-', [['x-brand-event', 'order:paid']]],
    ['a forged event', 'X-Brand-', [['X-Brand-Event', 'order:forged']]],
    [
      'another header of this form',
      'X-Brand-',
      [
        ['X-Other-Event', 'push'],
        ['X-Brand-Event', 'order:paid'],
      ],
    ],
    [
      'no event, and another header of this form',
      'X-Service-',
      [
        ['X-Other-Event', 'push'],
        ['X-Service-Webhook', 'whl_1'],
      ],
    ],
    ['no event', 'X-Service-', [['Content-Type', 'application/json']]],
  ])('names its event under the prefix of its base: %s', (_, prefix, headers) => {
    save('recorded', { ...base, headers });
    const variant = vary({ extends: './recorded.hook.json', event: 'order:updated' });
    const named = variant.headers.filter(([name]) =>
      name.toLowerCase().startsWith(prefix.toLowerCase()),
    );
    expect(named).toContainEqual([`${prefix}Event`, 'order:updated']);
    expect(named.filter(([name]) => /event$/i.test(name))).toHaveLength(1);
  });

  test('may extend a variant', () => {
    save('middle', { v: 1, extends: './base.hook.json', merge: { status: 56, a: 1 } });
    const fixture = vary({ extends: './middle.hook.json', merge: { a: 2 } });
    expect(textOf(fixture)).toBe('{"id":"ord_1","status":56,"value":10.0,"a":2}');
    expect(fixture.description).toBe('a paid order');
  });

  test('extends fixtures only, and opens no other file', () => {
    for (const file of ['/etc/passwd', '../package.json', '/dev/zero']) {
      const refusal = refusalOf(save('other', { v: 1, extends: file }));
      expect(refusal).toContain('has to end in .hook.json');
    }
  });

  test('that extends itself, directly or indirectly, is rejected', () => {
    expect(refusalOf(save('self', { v: 1, extends: './self.hook.json' }))).toContain(
      'extends itself',
    );
    const one = save('one', { v: 1, extends: './two.hook.json' });
    save('two', { v: 1, extends: './one.hook.json' });
    expect(refusalOf(one)).toContain('extends itself');
  });

  test('of a missing base is rejected with the name of the base', () => {
    const file = save('orphan', { v: 1, extends: './nowhere.hook.json' });
    expect(() => loadFixture(file)).toThrow(join(folder, 'nowhere.hook.json'));
  });

  test.each(['text', '{"id":', ''])(
    'that merges into %j, which is not JSON, is rejected',
    (text) => {
      save('no-json', { ...base, body: { text } });
      const file = save('merge', { v: 1, extends: './no-json.hook.json', merge: { a: 1 } });
      expect(refusalOf(file)).toContain('is not valid JSON, so there is nothing to merge into');
    },
  );
});

test('a file may begin with a byte order mark, which its body keeps', () => {
  const text = `\uFEFF${TEXT}`;
  const file = save('marked', `\uFEFF${JSON.stringify({ ...base, body: { text } })}`);
  expect(Buffer.from(loadFixture(file).body).toString()).toBe(text);
});

// The parser of Node gives a position for some errors only.
test.each([
  ['a comma at the end', '{\n  "v": 1,\n  "secret": "hunter2",\n}', 'not valid JSON, at line 4.'],
  ['a line break in a text', '{"v": 1,\r\n "secret": "hunter2\n"}', 'not valid JSON, at line 2.'],
  ['no position', '{"a": x at position 3', 'not valid JSON. '],
])('a syntax error names the line, if it is known: %s', (_, text, expected) => {
  const refusal = refusalOf(save('broken', text));
  expect(refusal).toContain(expected);
  expect(refusal).not.toContain('hunter');
});

describe('the content of a file is not in the error', () => {
  test.each(['{"secret":hunter2}', 'hunter2', '{"a":01,"secret":"hunter2"}'])(
    'if it is not JSON: %s',
    (text) => {
      const unreadable = save('unreadable', text);
      save('secret', { ...base, body: { text } });
      const merging = save('merging', { v: 1, extends: './secret.hook.json', merge: {} });
      for (const file of [unreadable, merging]) {
        expect(refusalOf(file)).toContain('is not valid JSON');
        expect(() => loadFixture(file)).toThrow(expect.objectContaining({ cause: undefined }));
        expect(refusalOf(file)).not.toContain('hunter');
      }
    },
  );
});

describe('bytes that are not UTF-8', () => {
  const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xff), Buffer.from('"}')]);

  test('are rejected in a file, which would change them', () => {
    const file = save('latin', '');
    writeFileSync(file, bytes);
    expect(refusalOf(file)).toContain('it is not UTF-8');
  });

  test('are rejected in a body that is merged, and kept in one that is not', () => {
    save('bytes', { ...base, body: { base64: bytes.toString('base64') } });
    const merging = save('merging', { v: 1, extends: './bytes.hook.json', merge: { b: 1 } });
    expect(refusalOf(merging)).toContain('the body it extends is not UTF-8');
    const keeping = save('keeping', { v: 1, extends: './bytes.hook.json' });
    expect([...loadFixture(keeping).body]).toEqual([...bytes]);
  });
});

describe('the shipped fixtures', () => {
  test('are listed by event and case, in alphabetical order', () => {
    const names = shippedFixtures();
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(
      expect.arrayContaining([
        'order:paid/default',
        'product:out_of_stock/older',
        'unknown/default',
        'hostile/deep',
      ]),
    );
  });

  test('are loaded by the name of an event, or of an event and a case', () => {
    expect(loadFixture('order:paid')).toEqual(loadFixture('order:paid/default'));
    expect(loadFixture('product:out_of_stock').event).toBe('product:out_of_stock');
    expect(loadFixture('order:updated/chargeback').event).toBe('order:updated');
  });

  test('are loaded by their files as well', () => {
    const { file } = loadFixture('order:paid');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ v: 1, event: 'order:paid' });
    expect(loadFixture(file)).toEqual(loadFixture('order:paid'));
  });

  test.each([
    ...['../planted', '..', './order:paid', '/order:paid', 'order:paid/', 'order:paid/../default'],
    ...['order:paid/crypto/', 'order:paid\\crypto', 'a/b/c', 'order:paid/crypto.json', 'a.json'],
    ...['../planted.json', `${folder}/planted`, 'order:paid\n', 'order paid', ''],
  ])('cannot be named %j, which could be a path', (name) => {
    writeFileSync(join(folder, 'planted'), JSON.stringify(base));
    expect(refusalOf(name)).toContain('the path of a file has to end in .hook.json');
  });

  test('are the only files that a name can load', () => {
    const planted = resolve('planted.hook.json');
    writeFileSync(planted, JSON.stringify(base));
    try {
      expect(() => loadFixture('../planted')).toThrow('has to end in .hook.json');
      expect(loadFixture('planted.hook.json').file).toBe(planted);
    } finally {
      rmSync(planted);
    }
  });

  test.each(['order:piad', 'order:paid/nothing'])('do not include "%s"', (name) => {
    expect(() => loadFixture(name)).toThrow(expect.objectContaining({ code: 'fixture_invalid' }));
  });
});

// RFC 7396, appendix A: original, patch, result.
test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  // Beyond the table: an ordinary name.
  ['{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}', '{"__proto__":{"a":1,"b":2}}'],
  ['{"constructor":1}', '{"constructor":null,"toString":{"x":1}}', '{"toString":{"x":1}}'],
])('%s merged with %s is %s', (original, patch, result) => {
  expect(JSON.stringify(mergePatch(JSON.parse(original), JSON.parse(patch)))).toBe(result);
  expect({}).not.toHaveProperty('b');
});
