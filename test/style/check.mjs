// The house style, in `npm run lint`: docs, comments and messages in plain English.
//
// `node test/style/check.mjs` checks all of it, and ends with 1 if a sentence breaks a rule that `exceptions.json`
// does not excuse. With `--passives`, it lists the sentences in the passive voice.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sentencesOf } from './sentences.mjs';

const RULES = [
  {
    name: 'subject',
    pattern: /^(?:What|Who|Whoever|Whatever|Whose|Nobody|Somebody|Everybody|That which)\b(?!.*\?$)/,
    instead: 'begin with a noun: the receiver, the store, the handler, the provider, the operator',
  },
  {
    name: 'none',
    pattern: /(?<!\bif there )\b(?:is|are|was|be) none\b/,
    instead: '"missing", "not valid JSON", "no value"',
  },
  {
    name: 'person',
    pattern: /\b(?:a person|somebody|nobody|everybody|whoever)\b/i,
    instead: 'operator, seller, provider or customer',
  },
];

/** The share of sentences in the passive voice, at most, by kind. */
const PASSIVES = { docs: 0.2, comments: 0.2, messages: 0.25 };
const PASSIVE =
  /\b(?:is|are|was|were|be|been|being)\s+(?:(?:not|never|also|only|already|then|again|still|always)\s+)*(?:\w+ed|done|kept|told|sent|taken|given|made|known|run|lost|found|held|shown|said|read|left|cut|written|chosen|seen|built|begun|broken|put|set|got)\b/;

function filesIn(folder, ending) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

const files = [
  'README.md',
  'CONTRIBUTING.md',
  // Generated pages consist of texts from comments and tests.
  ...filesIn('docs', '.md').filter(
    (file) => !file.startsWith(join('docs', 'api')) && file !== join('docs', 'evidence.md'),
  ),
  ...filesIn('decisions', '.md'),
  ...filesIn('src', '.ts'),
  ...filesIn('adapters', '.ts'),
];
const exceptions = JSON.parse(readFileSync(new URL('exceptions.json', import.meta.url), 'utf8'));

const sentences = files.flatMap(sentencesOf);
const excused = new Set();
const broken = sentences.flatMap(({ file, line, text }) =>
  RULES.filter(({ pattern }) => pattern.test(text)).flatMap(({ name, instead }) => {
    const exception = exceptions.find(
      (one) => one.rule === name && text.includes(one.text) && file === one.file,
    );
    if (exception) excused.add(exception);
    return exception ? [] : [`${file}:${line}: ${name}: ${text}\n    ${instead}`];
  }),
);
for (const one of exceptions)
  if (!excused.has(one)) broken.push(`exceptions.json: nothing needs the exception "${one.text}"`);

for (const [kind, most] of Object.entries(PASSIVES)) {
  const all = sentences.filter((one) => one.kind === kind);
  const passive = all.filter(({ text }) => PASSIVE.test(text));
  const share = passive.length / all.length;
  if (process.argv.includes('--passives'))
    for (const { file, line, text } of passive) console.log(`${file}:${line}: ${text}`);
  console.log(
    `${kind}: ${all.length} sentences, ${(100 * share).toFixed(0)} % in the passive voice (at most ${100 * most} %)`,
  );
  if (share > most) broken.push(`${kind}: too many sentences in the passive voice`);
}
if (broken.length > 0) {
  console.error(broken.join('\n'));
  console.error(`${broken.length} sentences break the house style. See CONTRIBUTING.md#words.`);
  process.exitCode = 1;
}
