import { readFileSync } from 'node:fs';

/** How long a tick of the kernel's clock takes. Linux counts for programs in hundredths of a second. */
const TICK_MS = 10;

/** Returns the processor time that a process has used so far, its own and the kernel's for it, in milliseconds. */
export function processorMs(pid) {
  // The name of the process, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  const [user, system] = fields.slice(11, 13);
  return TICK_MS * (Number(user) + Number(system));
}
