import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UNKNOWNS } from '../../../../src/sandbox/unknowns.js';
import { inShort, toDocument } from '../../../sandbox/evidence/document.js';
import { RULES } from '../../../sandbox/evidence/rules.js';
import { readSpecification } from '../../../sandbox/evidence/specification.js';
import { collectTests, testsOf } from '../../../sandbox/evidence/tests.js';

const tests = await collectTests();
const rules = Object.entries(RULES).flatMap(([section, rules]) =>
  rules.map(([says, evidence]) => ({ section, says, evidence })),
);

test('docs/evidence.md has each rule, and what is known of it', async () => {
  await expect(toDocument(tests)).toMatchFileSnapshot('../../../../docs/evidence.md');
});

test('README.md says how many are proven, assumed and not known', async () => {
  const readme = readFileSync('README.md', 'utf8');
  const markers = /(<!-- known -->\n).*?(?=<!-- \/known -->)/s;
  expect(readme).toMatch(markers);
  const filled = readme.replace(markers, (_, begin) => `${begin}${inShort()}\n`);
  await expect(filled).toMatchFileSnapshot('../../../../README.md');
});

test('every test that a rule names is there', () => {
  const missing = rules.flatMap(({ section, says, evidence }) => {
    const names = 'tests' in evidence ? evidence.tests : [];
    return names
      .filter((name) => testsOf(tests, section, name).length === 0)
      .map((name) => `${section}, ${says}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('every rule that is stated names a test', () => {
  const bare = rules.filter(
    ({ evidence }) =>
      !('assumed' in evidence) && 'tests' in evidence && evidence.tests.length === 0,
  );
  expect(bare).toEqual([]);
});

test('every test that names a section is named by a rule', () => {
  const named = new Set(
    rules.flatMap(({ section, evidence }) =>
      'tests' in evidence
        ? evidence.tests
            // What names a whole section says nothing of its tests.
            .filter((name) => !name.endsWith('] '))
            .flatMap((name) => testsOf(tests, section, name))
        : [],
    ),
  );
  const left = tests.filter((one) => !named.has(one));
  expect(left.map(({ section, name }) => `[spec: ${section}] ${name}`)).toEqual([]);
});

test('each place that is not shown is assumed once, with its default', () => {
  const places = rules.flatMap(({ evidence }) => ('assumed' in evidence ? [evidence.assumed] : []));
  expect(places.sort()).toEqual(Object.keys(UNKNOWNS).sort());
});

/** The specification itself, which is not part of the repository. */
const SPECIFICATION = '../shared/spec.md';

/** Sentences that set no rule: what there is to read, and where. */
const NO_RULES = [
  'This single document covers',
  'The material describes two shapes',
  'Where they differ, both are stated',
  'Header names that carry a brand',
];

describe.skipIf(!existsSync(SPECIFICATION))(
  'the specification (its owner keeps it at ../shared)',
  () => {
    const sections = existsSync(SPECIFICATION)
      ? readSpecification(readFileSync(SPECIFICATION, 'utf8'))
      : [];
    const of = (heading: string) => (RULES[heading] ?? []).map(([says]) => says);

    test('has no row of a table that is not a rule', () => {
      const left = sections.flatMap(({ heading, rows }) =>
        rows
          .filter((row) => !of(heading).some((says) => says.startsWith(`\`${row}\``)))
          .map((row) => `${heading}: ${row}`),
      );
      expect(left).toEqual([]);
      expect(sections.flatMap(({ rows }) => rows).length).toBeGreaterThan(170);
    });

    test('has no sentence that is not a rule', () => {
      const left = sections.flatMap(({ heading, sentences }) =>
        sentences.filter(
          (sentence) =>
            !NO_RULES.some((start) => sentence.startsWith(start)) &&
            !of(heading).join(' ').includes(sentence),
        ),
      );
      expect(left).toEqual([]);
    });

    test('says "not shown" at the places that are options, and at no others', () => {
      const text = readFileSync(SPECIFICATION, 'utf8');
      const said = Object.values(UNKNOWNS).map(({ said }) => said.replace(/\.$/, ''));
      for (const one of said) expect(text).toContain(one);
      const notShown = [...text.matchAll(/[^.:|\n]+: not shown(?! in)/g)].map(([one]) =>
        one.trim(),
      );
      for (const one of notShown) expect(said.some((place) => place.startsWith(one))).toBe(true);
      // At the other one, it is not said which operation emits which event.
      expect(notShown).toHaveLength(said.length - 1);
    });
  },
);
