import type { Result } from './result.js';

/** Returns the results as JUnit XML, in the form that Jenkins and similar servers read. */
export function toJUnit(results: readonly Result[], url: string, startedAt: Date): string {
  const count = (verdict: Result['verdict']) =>
    results.filter((result) => result.verdict === verdict).length;
  const counts = attributes({
    tests: results.length,
    failures: count('failed'),
    errors: 0,
    time: seconds(results.reduce((sum, { ms }) => sum + ms, 0)),
  });
  const suite = attributes({
    name: `storefront-webhooks check ${url}`,
    skipped: count('not tried'),
    timestamp: startedAt.toISOString().slice(0, 19),
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="storefront-webhooks"${counts}>`,
    `  <testsuite${suite}${counts}>`,
    ...results.map(toCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function toCase({ row, title, verdict, ms, cause = '', customer, change, repeat }: Result): string {
  const about = attributes({ classname: 'check', name: `${row}: ${title}`, time: seconds(ms) });
  if (verdict === 'passed') return `    <testcase${about}/>`;
  const told =
    verdict === 'failed'
      ? `<failure${attributes({ type: row, message: customer ?? cause })}>${text(
          [cause, change, repeat].filter((line) => line !== undefined).join('\n'),
        )}</failure>`
      : `<skipped>${text(cause)}</skipped>`;
  return `    <testcase${about}>\n      ${told}\n    </testcase>`;
}

function attributes(of: Readonly<Record<string, string | number>>): string {
  return Object.entries(of)
    .map(([name, value]) => ` ${name}="${text(String(value)).replaceAll('"', '&quot;')}"`)
    .join('');
}

// Characters that XML 1.0 cannot hold, escaped or not.
// biome-ignore lint/suspicious/noControlCharactersInRegex: The pattern has to match control characters.
const IMPOSSIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu;

function text(value: string): string {
  return value
    .replace(IMPOSSIBLE, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
