import { printable } from '../../errors/text.js';
import { textLines } from '../lines.js';
import type { Printer } from '../printer.js';
import type { Diagnosis } from './diagnose.js';
import type { Difference, Excerpt } from './difference.js';
import type { Hop } from './hop.js';

/** The results that `doctor` prints. */
export interface Finding {
  readonly diagnosis: Diagnosis;
  readonly change: string | undefined;
  readonly hop: Hop | undefined;
  readonly bytes: number;
}

/** If nothing can be tried: the cause, and what to change. */
const NO_HMAC = [
  'The signature cannot be an HMAC-SHA512, so nothing was tried.',
  'give the whole value of the signature header, as it arrived. If this is all that arrived, the sender does not sign with HMAC-SHA512, or a proxy has changed or removed the header.',
] as const;

const UNEXPLAINED =
  'transformations of body and secret were tried, and none of them explains it. The sender used a secret that was not given, or the body was changed in another way.';

const COMPARE_SECRETS =
  'compare the secret with the one in the dashboard of this account, and give each secret that may be in use: --secret-env OLD --secret-env NEW. To save the body as it arrives: npx storefront-webhooks record.';

/** Returns the lines for a diagnosis in a terminal. */
export function toLines(
  { diagnosis, change, hop, bytes }: Finding,
  { paint, columns }: Printer,
): string[] {
  const { observations } = diagnosis;
  const beside = observations.flatMap((line) => safeLines('  seen:   ', line, columns));
  const between = hop === undefined ? [] : hopLines(hop, columns);
  if (diagnosis.result === 'genuine')
    return [paint.green(`The signature matches these ${bytes} bytes.`), ...beside, ...between];
  const head = paint.red(`The signature does not match these ${bytes} bytes.`);
  if (diagnosis.result === 'unexplained') {
    const { tried, notTried } = diagnosis;
    const [why, toDo] = tried === 0 ? NO_HMAC : [`${tried} ${UNEXPLAINED}`, COMPARE_SECRETS];
    const left = `too many to try them all: ${notTried.join('; ')}. Try a smaller delivery.`;
    return [
      head,
      ...safeLines('  why:    ', why, columns),
      ...(notTried.length === 0 ? [] : safeLines('  left:   ', left, columns)),
      ...safeLines('  change: ', toDo, columns),
      ...beside,
      ...between,
    ];
  }
  return [
    head,
    ...diagnosis.steps.flatMap(({ message }, index) =>
      safeLines(`  ${index === 0 ? 'why:   ' : '       '} `, message, columns),
    ),
    '  proof:  if this is undone, the HMAC is exactly the given signature.',
    ...(hop === undefined ? differenceLines(diagnosis.difference) : []),
    ...(change === undefined ? [] : safeLines('  change: ', change, columns)),
    ...beside,
    ...between,
  ];
}

const WHERE: Readonly<Record<Hop['changed'], string>> = {
  between: 'the delivery was changed between the two recordings.',
  before: 'both recordings have the same body: it was changed before them, or the secret is wrong.',
  nowhere: 'both recordings have the same body, and it is genuine.',
  both: 'the other recording is not genuine either, and the two differ.',
};

function hopLines({ changed, steps, difference }: Hop, columns: number): string[] {
  return [
    ...safeLines('  hop:    ', WHERE[changed], columns),
    ...steps.flatMap(({ message }) => safeLines('          ', message, columns)),
    ...differenceLines(difference),
  ];
}

function differenceLines(difference: Difference | undefined): string[] {
  if (difference === undefined) return [];
  const { at, sent, seen } = difference;
  return [
    `  differs from byte ${at} on (${sent.bytes} bytes were sent, ${seen.bytes} are here):`,
    ...excerptLines('sent', sent),
    ...excerptLines('here', seen),
    `          ${' '.repeat(3 * (at - sent.from))}^^`,
  ];
}

function excerptLines(name: string, { hex, text }: Excerpt): string[] {
  return [
    `    ${name}  ${hex
      .slice(0, 3 * 16)
      .trimEnd()
      .padEnd(48)}  ${text.slice(0, 16)}`,
  ];
}

/** {@link textLines} of a text that may contain names out of the body, which the sender has chosen. */
function safeLines(label: string, text: string, columns: number): string[] {
  return textLines(label, printable(text, 4000), columns);
}
