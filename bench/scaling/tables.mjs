import { backlogTable, costsTable, keepingTable, saturationTable } from './tables/costs.mjs';
import { capacityText, pressureTable, stormQueueTable, stormTable } from './tables/storms.mjs';

/** The texts between the markers of scaling.md, performance.md and outage.md. */
export function tables({ conditions, costs }, storms) {
  return {
    costs: costsTable(conditions, costs),
    keeping: keepingTable(),
    saturation: saturationTable(costs),
    backlog: backlogTable(costs),
    capacity: capacityText(costs),
    storm: stormTable(storms),
    'storm-queue': stormQueueTable(storms, costs),
    pressure: pressureTable(costs),
  };
}
