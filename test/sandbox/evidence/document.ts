import { UNKNOWNS } from '../../../src/sandbox/unknowns.js';
import type { Evidence, Rule } from './rule.js';
import { RULES } from './rules.js';
import { type SectionTest, testsOf } from './tests.js';

/** Returns `docs/evidence.md`: each rule of the specification, with its evidence. */
export function toDocument(tests: readonly SectionTest[]): string {
  const sections = Object.entries(RULES).map(([section, rules]) => {
    const rows = rules.map((rule) => toRow(section, rule, tests));
    return `## ${section}\n\n| rule | status | tests |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Evidence

How closely the sandbox follows the specification, rule by rule.

- *Stated*: the specification states the rule. A test asserts it for the sandbox, or for the client if the rule is about clients.
- *Assumed*: the specification does not show it. An option of \`unknowns\`, with a default, decides how the sandbox behaves.
- *Unknown*: the specification says nothing, and no test asserts anything. Do not rely on the behaviour of the sandbox.

| stated | assumed | unknown |
|---|---|---|
| ${count('stated')} | ${count('assumed')} | ${count('unknown')} |

A number in brackets is the number of tests whose names begin with the text.

${sections.join('\n')}`;
}

/** Returns the summary that README.md has between its markers. */
export function inShort(): string {
  return `- **Tested:** ${count('stated')} [rules](docs/evidence.md) of the provider's specification, and that no order is lost [while servers are killed](docs/chaos.md).
- **Assumed:** ${count('assumed')} details that the specification leaves open. The [sandbox](docs/sandbox.md) has an option for each, to test every answer.
- **Unknown:** ${count('unknown')} things that the provider does not document, such as what a coupon does. Do not rely on the sandbox there.
- **Up to you:** a handler without \`transaction\` runs again if a crash interrupts it: make it safe to repeat. [Signatures never expire](docs/security.md), so deliver by \`onPaid\`, which ignores finished orders.`;
}

function count(kind: ReturnType<typeof kindOf>): number {
  const rules = Object.values(RULES).flat();
  return rules.filter(([, evidence]) => kindOf(evidence) === kind).length;
}

function kindOf(evidence: Evidence): 'stated' | 'assumed' | 'unknown' {
  if ('unknown' in evidence) return 'unknown';
  return 'assumed' in evidence ? 'assumed' : 'stated';
}

function toRow(section: string, [says, evidence]: Rule, tests: readonly SectionTest[]): string {
  const beginnings = 'tests' in evidence ? evidence.tests : [];
  const proofs = beginnings.map((beginning) =>
    toProof(beginning, testsOf(tests, section, beginning)),
  );
  return `| ${toCell(says)} | ${toKnown(evidence)} | ${proofs.join('<br>')} |`;
}

function toKnown(evidence: Evidence): string {
  if ('unknown' in evidence) return `unknown: ${evidence.unknown}`;
  if (!('assumed' in evidence)) return 'stated';
  const [[choice, does]] = Object.entries(UNKNOWNS[evidence.assumed].choices) as [[string, string]];
  return `assumed: ${code(evidence.assumed)}, default ${code(choice)}: ${toCell(does)}`;
}

/** Names the test, or the common beginning of several tests, and its file. */
function toProof(beginning: string, found: readonly SectionTest[]): string {
  const [first] = found;
  const files = [...new Set(found.map(({ file }) => file))].sort().map(code).join(', ');
  if (found.length === 1 && first) return `${code(first.name)} in ${files}`;
  const [, of, begins = beginning] = /^\[spec: ([^\]]+)\] (.*)$/.exec(beginning) ?? [];
  const name = begins === '' ? `all of ${of}` : code(`${begins.trimEnd()} …`);
  return `${name} (${found.length}) in ${files}`;
}

function code(text: string): string {
  const quotes = text.includes('`') ? '``' : '`';
  return `${quotes}${text.replaceAll('|', '\\|')}${quotes}`;
}

/** Escapes text for a cell of a table. Quoted text stays as it is. */
function toCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('[', '\\[');
}
