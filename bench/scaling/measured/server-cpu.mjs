import { readdirSync, readFileSync } from 'node:fs';

// Linux reports CPU time in these units, whatever the tick of its kernel.
const TICK_MICROS = 10_000;

/**
 * Returns the CPU time of a process and its children so far, including ended children; `undefined` if not on
 * Linux.
 */
export function serverMicros(pid) {
  if (process.platform !== 'linux') return undefined;
  let ticks = 0;
  for (const each of readdirSync('/proc')) {
    const stat = /^\d+$/.test(each) ? readStat(each) : undefined;
    if (Number(each) === pid && stat) ticks += stat.own + stat.endedChildren;
    else if (stat?.parent === pid) ticks += stat.own;
  }
  return ticks * TICK_MICROS;
}

export function parentOf(pid) {
  return readStat(pid)?.parent;
}

function readStat(pid) {
  let text;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // The process has ended since the folder was read.
    return undefined;
  }
  // The name, in parentheses, may contain any characters.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system, childrenUser, childrenSystem] = [1, 11, 12, 13, 14].map((at) =>
    Number(fields[at]),
  );
  return { parent, own: user + system, endedChildren: childrenUser + childrenSystem };
}
