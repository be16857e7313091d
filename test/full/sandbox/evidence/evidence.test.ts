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

test('docs/evidence.md has each rule with its evidence', async () => {
  await expect(toDocument(tests)).toMatchFileSnapshot('../../../../docs/evidence.md');
});

test('README.md states how many rules are proven, assumed and unknown', async () => {
  const readme = readFileSync('README.md', 'utf8');
  const markers = /(<!-- known -->\n).*?(?=<!-- \/known -->)/s;
  expect(readme).toMatch(markers);
  const filled = readme.replace(markers, (_, begin) => `${begin}${inShort()}\n`);
  await expect(filled).toMatchFileSnapshot('../../../../README.md');
});

test('every test that a rule names exists', () => {
  const missing = rules.flatMap(({ section, says, evidence }) => {
    const names = 'tests' in evidence ? evidence.tests : [];
    return names
      .filter((name) => testsOf(tests, section, name).length === 0)
      .map((name) => `${section}, ${says}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('every stated rule names a test', () => {
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
            // A name that covers a whole section does not count for its tests.
            .filter((name) => !name.endsWith('] '))
            .flatMap((name) => testsOf(tests, section, name))
        : [],
    ),
  );
  const left = tests.filter((one) => !named.has(one));
  expect(left.map(({ section, name }) => `[spec: ${section}] ${name}`)).toEqual([]);
});

test('each open place of the specification is assumed once, with its default', () => {
  const places = rules.flatMap(({ evidence }) => ('assumed' in evidence ? [evidence.assumed] : []));
  expect(places.sort()).toEqual(Object.keys(UNKNOWNS).sort());
});

/** The specification, which is not part of the repository. */
const SPECIFICATION = '../shared/spec.md';

/** Sentences that contain no rule, but describe the document. */
const NO_RULES = [
  'This single document covers',
  'The material describes two shapes',
  'Where they differ, both are stated',
  'Header names that carry a brand',
];

if (existsSync(SPECIFICATION)) {
  describe('the specification', () => {
    const sections = readSpecification(readFileSync(SPECIFICATION, 'utf8'));
    const of = (heading: string) => (RULES[heading] ?? []).map(([says]) => says);

    test('has no table row without a rule', () => {
      const left = sections.flatMap(({ heading, rows }) =>
        rows
          .filter((row) => !of(heading).some((says) => says.startsWith(`\`${row}\``)))
          .map((row) => `${heading}: ${row}`),
      );
      expect(left).toEqual([]);
      expect(sections.flatMap(({ rows }) => rows).length).toBeGreaterThan(170);
    });

    test('has no sentence without a rule', () => {
      const left = sections.flatMap(({ heading, sentences }) =>
        sentences.filter(
          (sentence) =>
            !NO_RULES.some((start) => sentence.startsWith(start)) &&
            !of(heading).join(' ').includes(sentence),
        ),
      );
      expect(left).toEqual([]);
    });

    test('has "not shown" at the places that are options, and at no others', () => {
      const text = readFileSync(SPECIFICATION, 'utf8');
      const said = Object.values(UNKNOWNS).map(({ said }) => said.replace(/\.$/, ''));
      for (const one of said) expect(text).toContain(one);
      const notShown = [...text.matchAll(/[^.:|\n]+: not shown(?! in)/g)].map(([one]) =>
        one.trim(),
      );
      for (const one of notShown) expect(said.some((place) => place.startsWith(one))).toBe(true);
      // At the remaining place, the specification does not say which operation emits which event.
      expect(notShown).toHaveLength(said.length - 1);
    });
  });
} else {
  test.skip('the specification has no rule without a test (its owner does not publish it)', () => {});
}
