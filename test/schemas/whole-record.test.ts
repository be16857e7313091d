import fc from 'fast-check';
import * as schemas from 'storefront-webhooks';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { FIELDS, type RecordFields } from '../../src/schemas/resource.js';
import { toReader } from '../../src/schemas/whole-record.js';
import { toReader as toReaderOnWorkers } from '../../src/schemas/whole-record.worker.js';

fc.configureGlobal({ seed: 7396 });

const RESOURCES = Object.entries(schemas).flatMap(([name, schema]): [string, RecordFields][] =>
  typeof schema === 'object' && FIELDS in schema && schema[FIELDS] ? [[name, schema[FIELDS]]] : [],
);

const ODD = [undefined, null, '', 'x', 0, 1.5, 2 ** 53, true, [], {}, [{}], '1.50', '1e3', 'now'];

test.each(RESOURCES)('Workers read the fields of %s as Node does', (_, { required, rest }) => {
  const optional = Object.entries(rest).map(([name, field]) => [name, z.optional(field)] as const);
  const shape = { ...required, ...Object.fromEntries(optional) };
  const onNode = toReader(shape);
  const onWorkers = toReaderOnWorkers(shape);
  const fitting = fc.record(
    Object.fromEntries(
      Object.entries(shape).map(([name, field]) => [
        name,
        fc.constantFrom(...ODD.filter((value) => z.safeParse(field, value).success)),
      ]),
    ),
    { requiredKeys: Object.keys(required) },
  );
  const odd = fc.dictionary(
    fc.constantFrom(...Object.keys(shape), 'more'),
    fc.constantFrom(...ODD),
    {
      maxKeys: 2,
    },
  );
  let read = 0;
  fc.assert(
    fc.property(fitting, fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, odd), (most, few) => {
      const record = { ...most, ...few };
      const found = onWorkers(record);
      expect(found).toStrictEqual(onNode(record));
      expect(Object.keys(found ?? {})).toEqual(Object.keys(onNode(record) ?? {}));
      if (found) read += 1;
    }),
  );
  // Most of the records fit, so the comparison is not one of `undefined` alone.
  expect(read).toBeGreaterThan(50);
});
