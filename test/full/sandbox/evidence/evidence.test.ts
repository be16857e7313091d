import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UNKNOWNS } from '../../../../src/sandbox/unknowns.js';
import { RULES } from '../../../sandbox/evidence/rules.js';
import { readSpecification } from '../../../sandbox/evidence/specification.js';

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
  'the specification (which its owner has to put at ../shared/spec.md)',
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
