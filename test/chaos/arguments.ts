import { parseArgs } from 'node:util';
import { QUEUES, STORES, type StoreName } from './stores.js';

export const PARTS = [
  'faults',
  'copies',
  'races',
  'clocks',
  'takeover',
  'release',
  'rates',
  'sizes',
  'network',
  'restarts',
  'rolling',
  'deploys',
  'claims',
  'orders',
  'goods',
  'overload',
  'transaction',
  'jumps',
] as const;
export type Part = (typeof PARTS)[number];

/** The amount of work on each store. */
export interface Sizes {
  readonly deliveries: number;
  readonly faults: number;
  readonly copies: number;
  readonly races: number;
  readonly takeovers: number;
  readonly releases: number;
  readonly clocks: number;
  readonly slices: number;
  readonly sliceMs: number;
  readonly rows: number;
  /** The rows of the purge that runs beside claims. */
  readonly backlog: number;
  /** The number of network faults, and the length of the longest black hole. */
  readonly networkFaults: number;
  readonly blackHoleMs: number;
  /** The number of restarts of the store's server. */
  readonly restarts: number;
  /** Deliveries in a transaction, and the faults of the processes meanwhile. */
  readonly transactions: number;
  readonly transactionFaults: number;
  /** The number of jumps of the clock. */
  readonly jumps: number;
  /** The number of restarts of each receiver, and on PostgreSQL. */
  readonly rounds: number;
  readonly stops: number;
  /** Deliveries that pass between two versions. */
  readonly halfDone: number;
  /** Deliveries whose claims get no answer. */
  readonly lostClaims: number;
  /** Orders that both events report, and the number of receivers that are killed meanwhile. */
  readonly orders: number;
  readonly orderKills: number;
  /** Orders that request goods, and the faults of the processes meanwhile. */
  readonly goods: number;
  readonly goodsFaults: number;
  /** The number of simultaneous orders, and of processes. */
  readonly storms: readonly { readonly orders: number; readonly processes: number }[];
  /** How long three times the capacity arrives. */
  readonly floodMs: number;
  /** Orders at once to a process whose store is far away, and orders whose senders are impatient. */
  readonly farOrders: number;
  readonly hastyOrders: number;
  /** How long forged orders arrive beside genuine ones. */
  readonly forgedMs: number;
}

const SHORT: Sizes = {
  deliveries: 300,
  faults: 40,
  copies: 25,
  races: 150,
  takeovers: 6,
  releases: 5,
  clocks: 8,
  slices: 4,
  sliceMs: 400,
  rows: 20_000,
  backlog: 12_000,
  networkFaults: 4,
  blackHoleMs: 3_000,
  restarts: 4,
  transactions: 300,
  transactionFaults: 40,
  jumps: 8,
  rounds: 2,
  stops: 4,
  halfDone: 150,
  lostClaims: 30,
  orders: 90,
  orderKills: 9,
  goods: 120,
  goodsFaults: 8,
  storms: [{ orders: 3_000, processes: 1 }],
  floodMs: 8_000,
  farOrders: 1_000,
  hastyOrders: 1_000,
  forgedMs: 3_000,
};

const FULL: Sizes = {
  deliveries: 10_000,
  faults: 1_000,
  copies: 250,
  races: 5_000,
  takeovers: 16,
  releases: 20,
  clocks: 24,
  slices: 10,
  sliceMs: 1_000,
  rows: 20_000,
  backlog: 60_000,
  networkFaults: 25,
  blackHoleMs: 13_000,
  restarts: 20,
  transactions: 30_000,
  transactionFaults: 600,
  jumps: 100,
  rounds: 8,
  stops: 100,
  halfDone: 2_000,
  lostClaims: 300,
  orders: 1_500,
  orderKills: 90,
  goods: 3_000,
  goodsFaults: 300,
  storms: [
    { orders: 5_000, processes: 1 },
    { orders: 12_000, processes: 1 },
    { orders: 30_000, processes: 1 },
    { orders: 30_000, processes: 4 },
  ],
  floodMs: 60_000,
  farOrders: 12_000,
  hastyOrders: 5_000,
  forgedMs: 10_000,
};

export interface Arguments {
  readonly short: boolean;
  readonly seed: number;
  readonly stores: readonly StoreName[];
  readonly parts: readonly Part[];
  readonly sizes: Sizes;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
}

export function readArguments(args: string[]): Arguments {
  const { values } = parseArgs({
    args,
    options: {
      short: { type: 'boolean', default: false },
      seed: { type: 'string', default: '20261121' },
      store: { type: 'string', multiple: true },
      only: { type: 'string', multiple: true },
      deliveries: { type: 'string' },
      faults: { type: 'string' },
      races: { type: 'string' },
      json: { type: 'string' },
      markdown: { type: 'string' },
    },
  });
  const sizes = values.short ? SHORT : FULL;
  const sizeOf = (name: 'deliveries' | 'faults' | 'races', planned: number) =>
    wholeNumber(name, values[name] ?? `${planned}`);
  return {
    short: values.short,
    seed: wholeNumber('seed', values.seed),
    stores: choose('store', values.store, [...STORES, ...QUEUES]),
    parts: choose('only', values.only, PARTS),
    sizes: {
      ...sizes,
      deliveries: sizeOf('deliveries', sizes.deliveries),
      transactions: sizeOf('deliveries', sizes.transactions),
      faults: sizeOf('faults', sizes.faults),
      transactionFaults: sizeOf('faults', sizes.transactionFaults),
      races: sizeOf('races', sizes.races),
    },
    json: values.json,
    markdown: values.markdown,
  };
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(`--${name} has to be a whole number above 0.`);
}

function choose<Name extends string>(
  option: string,
  chosen: readonly string[] | undefined,
  all: readonly Name[],
): readonly Name[] {
  const unknown = chosen?.find((name) => !(all as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`--${option} is one of ${all.join(', ')}.`);
  return chosen ? all.filter((name) => chosen.includes(name)) : all;
}
