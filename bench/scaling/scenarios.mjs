import { SCHEDULES } from './schedules.mjs';
import { simulate } from './storm.mjs';

/** The assumptions, which were not measured. */
export const ASSUMED = {
  rate: 10_000,
  outage: 3600,
  // The CPU time of all handlers of a delivery.
  handlerMicros: 1000,
  machines: 3,
  coresOfMachine: 8,
  // The machines that accept deliveries, if there is a queue. The others are its workers.
  webMachines: 1,
  store: 'postgres',
  queue: 'bullmq',
};

/** Returns the deliveries a second that one core can do, by its task. */
export function perCore(costs, { store, queue, handlerMicros } = ASSUMED) {
  const micros = (name) => costs[name].clientMicros;
  return {
    whole: 1e6 / (micros('http') + micros(store) + handlerMicros),
    accepting: 1e6 / (micros('http') + micros(`${queue} enqueue`)),
    working: 1e6 / (micros(`${queue} drain`) + micros(store) + handlerMicros),
    refusing: 1e6 / micros('http'),
  };
}

/**
 * Returns the same machines in two set-ups: all do everything, or some accept deliveries and the others are
 * workers.
 */
export function setUps(costs, assumed = ASSUMED) {
  const { machines, webMachines, coresOfMachine } = assumed;
  const { whole, accepting, working } = perCore(costs, assumed);
  const all = Math.floor(machines * coresOfMachine * whole);
  return [
    { name: 'web', label: 'handlers in the web process', accepts: all },
    {
      name: 'queue',
      label: 'queue and workers',
      accepts: Math.floor(webMachines * coresOfMachine * accepting),
      works: Math.floor((machines - webMachines) * coresOfMachine * working),
    },
  ];
}

/** Returns the cost of a refusal by the web process itself, in deliveries. */
export function refusalCost(costs) {
  const { whole, refusing } = perCore(costs);
  return whole / refusing;
}

export function storm(schedule, capacity) {
  const { rate, outage } = ASSUMED;
  const { accepts, works, ...pressure } = capacity;
  return simulate({ rate, outageAt: 600, outage, schedule, accepts, works, ...pressure });
}

/** Simulates each schedule in each set-up. */
export function storms(costs) {
  return SCHEDULES.flatMap((schedule) =>
    setUps(costs).map((setUp) => ({ schedule, setUp, result: storm(schedule, setUp) })),
  );
}

const TIMES = [1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4, 5, 7, 10];

/** Simulates each schedule with handlers in the web process, at multiples of the capacity for the usual rate. */
export function capacities() {
  return SCHEDULES.flatMap((schedule) =>
    TIMES.map((times) => {
      const result = storm(schedule, { accepts: Math.round(ASSUMED.rate * times) });
      return { schedule, times, result };
    }),
  );
}
