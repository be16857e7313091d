import { UsageError } from '../errors/errors.js';
import { hasMethods } from './platform.js';

/** Libraries built on a driver, each recognized by methods that no driver has. */
const WRAPPERS = [
  { name: 'TypeORM', methods: ['createQueryRunner', 'initialize'] },
  { name: 'TypeORM', methods: ['getTreeRepository', 'transaction'] },
  { name: 'TypeORM', methods: ['releaseSavepoint', 'startTransaction'] },
  { name: 'TypeORM', methods: ['startTransaction', 'createDatabase'] },
  { name: 'Sequelize', methods: ['getQueryInterface'] },
  { name: 'Prisma', methods: ['$queryRawUnsafe'] },
  { name: 'Knex', methods: ['transactionProvider'] },
  { name: 'Kysely', methods: ['selectFrom', 'getExecutor'] },
  { name: 'Drizzle', methods: ['select', '$with'] },
  { name: 'pg-promise', methods: ['oneOrNone', 'manyOrNone'] },
  { name: 'Slonik', methods: ['maybeOneFirst'] },
  { name: 'MikroORM', methods: ['getSchemaGenerator'] },
  { name: '@libsql/client', methods: ['executeMultiple', 'batch'] },
] as const;

/** The driver's own client inside a wrapper, by the wrapper's name. */
export type Instead = Readonly<Partial<Record<(typeof WRAPPERS)[number]['name'], string>>>;

/**
 * Rejects an object of a library that is built on a driver: its answers have another form than those of the driver.
 *
 * @param who - The function that takes the client, as the subject of a sentence.
 * @param instead - The clients to pass, where a library lets its client out.
 * @param otherwise - The client to make where it does not.
 * @throws {UsageError} `client_invalid`
 */
export function refuseWrapper(
  client: unknown,
  who: string,
  instead: Instead,
  otherwise: string,
): void {
  if (hasMethods(client, 'then')) {
    throw new UsageError('client_invalid', `${who} takes a client, and not a promise: await it.`);
  }
  const found = WRAPPERS.find(({ methods }) => hasMethods(client, ...methods));
  if (!found) return;
  throw new UsageError(
    'client_invalid',
    `${who} takes the client of a driver, and this is an object of ${found.name}. Pass ` +
      `${instead[found.name] ?? otherwise}.`,
  );
}
