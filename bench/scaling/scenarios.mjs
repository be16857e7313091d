import { SCHEDULES } from './schedules.mjs';
import { simulate } from './storm.mjs';

/** What is assumed, and nobody has measured. */
export const ASSUMED = {
  rate: 10_000,
  outage: 3600,
  // Of CPU, for all handlers of a delivery.
  handlerMicros: 1000,
  machines: 3,
  coresOfMachine: 8,
  // Of the machines, where there is a queue: the others are its workers.
  webMachines: 1,
  store: 'postgres',
  queue: 'bullmq',
};

/** Deliveries a second that one core can do, by what it does. */
export function perCore(costs, { store, queue, handlerMicros } = ASSUMED) {
  const micros = (name) => costs[name].clientMicros;
  return {
    whole: 1e6 / (micros('http') + micros(store) + handlerMicros),
    accepting: 1e6 / (micros('http') + micros(`${queue} enqueue`)),
    working: 1e6 / (micros(`${queue} drain`) + micros(store) + handlerMicros),
    refusing: 1e6 / micros('http'),
  };
}

/** The same machines in two set-ups: all of them do all of it, or some accept and the others work. */
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

/** What a refusal costs that the web process makes itself, in deliveries. */
export function refusalCost(costs) {
  const { whole, refusing } = perCore(costs);
  return whole / refusing;
}

export function storm(schedule, capacity) {
  const { rate, outage } = ASSUMED;
  const { accepts, works, ...pressure } = capacity;
  return simulate({ rate, outageAt: 600, outage, schedule, accepts, works, ...pressure });
}

/** Each schedule in each set-up. */
export function storms(costs) {
  return SCHEDULES.flatMap((schedule) =>
    setUps(costs).map((setUp) => ({ schedule, setUp, result: storm(schedule, setUp) })),
  );
}

const TIMES = [1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4, 5, 7, 10];

/** Each schedule, with handlers in the web process, at so many times the capacity that it needs anyway. */
export function capacities() {
  return SCHEDULES.flatMap((schedule) =>
    TIMES.map((times) => {
      const result = storm(schedule, { accepts: Math.round(ASSUMED.rate * times) });
      return { schedule, times, result };
    }),
  );
}
