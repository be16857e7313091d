import { expect, test } from 'vitest';
import { toJUnit } from '../../../src/cli/check/junit.js';

test('an answer that is quoted in a cause does not end its attribute', () => {
  const about = { row: 'unsigned', title: 'an unsigned delivery', answers: [200], ms: 12 };
  const cause = 'The answer was {"a":"<&>\u0000"}.';
  const xml = toJUnit([{ ...about, verdict: 'failed', cause }], 'http://a.example', new Date(0));
  const written = 'The answer was {&quot;a&quot;:&quot;&lt;&amp;&gt;\ufffd&quot;}.';
  expect(xml).toContain(`<failure type="unsigned" message="${written}">`);
});
