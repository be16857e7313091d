import { ONCE, type Row } from '../row.js';
import { bytes } from './bytes.js';
import { forged } from './forged.js';
import { limits } from './limits.js';
import { repeated } from './repeated.js';
import { restarts } from './restarts.js';
import { states } from './states.js';

/** What all others build on: where it fails, they tell nothing. */
export const genuine: Row = {
  name: 'paid',
  title: 'a paid order',
  goods: ONCE,
  async run(trial) {
    await trial.take(trial.paid());
  },
};

/** The whole repertoire, in the order in which it is told. */
export const ROWS: readonly Row[] = [
  genuine,
  ...repeated,
  ...states,
  ...forged,
  ...bytes,
  ...limits,
  ...restarts,
];
