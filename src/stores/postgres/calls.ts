import { VERSION } from '../../errors/log.js';

// Without parameters of the protocol, so that several statements take one trip.

/** A statement that a transaction of the store runs, with `$1`, `$2` and so on for its values. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The types of its values, in their order. */
  readonly types: readonly ('text' | 'bigint' | 'double precision')[];
}

/** A statement with its values, each of which is a literal of SQL. */
export interface Call {
  readonly statement: Statement;
  readonly literals: readonly string[];
}

/** Returns the text of a call for a connection that has nothing prepared. */
export function toText({ statement: { text, types }, literals }: Call): string {
  return text.replace(/\$(\d)/g, (_, place) => `(${literals[place - 1]})::${types[place - 1]}`);
}

/** Contains the version, so that a pooler's connection never runs a statement that another version prepared. */
const nameOf = ({ name }: Statement) => `"storefront-webhooks ${VERSION} ${name}"`;

export function toPrepare(statement: Statement): string {
  return `PREPARE ${nameOf(statement)}(${statement.types.join(', ')}) AS ${statement.text}`;
}

/** Returns the text of a call for a connection that has its statement prepared. */
export function toExecute({ statement, literals }: Call): string {
  return `EXECUTE ${nameOf(statement)}(${literals.join(', ')})`;
}
