import { ONCE, type Row } from '../trial.js';
import { bytes } from './bytes.js';
import { forged } from './forged.js';
import { limits } from './limits.js';
import { repeated } from './repeated.js';
import { restarts } from './restarts.js';
import { states } from './states.js';

/** The row that all others build on. If it fails, the others prove nothing. */
export const genuine: Row = {
  name: 'paid',
  title: 'a paid order',
  goods: ONCE,
  async run(trial) {
    await trial.take(trial.paid());
  },
};

/** All rows, in the order in which they are reported. */
export const ROWS: readonly Row[] = [
  genuine,
  ...repeated,
  ...states,
  ...forged,
  ...bytes,
  ...limits,
  ...restarts,
];
