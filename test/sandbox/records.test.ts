import { describe, expect, test } from 'vitest';
import { Changes } from '../../src/sandbox/state/changes.js';
import type { Change, Journal } from '../../src/sandbox/state/journal.js';
import { Records } from '../../src/sandbox/state/records.js';

interface Note {
  readonly id: string;
  readonly text?: string;
}

/** Opens records on a journal in memory, which can be made to fail. */
function open() {
  const written: Change[][] = [];
  const state = { fails: false };
  const journal: Journal = {
    accounts: () => [],
    load: () => [],
    write(changes) {
      if (state.fails) throw new Error('disk full');
      written.push([...changes]);
    },
    close() {},
  };
  const changes = new Changes('sk_test_a', journal);
  return { changes, records: new Records<Note>('notes', changes), written, state };
}

const ids = (records: Records<Note>) => Array.from(records, ({ id }) => id);

describe('records', () => {
  test('are paged newest first, however many were deleted before', () => {
    const { records } = open();
    for (let at = 0; at < 1000; at++) records.put({ id: `${at}` });
    for (let at = 0; at < 1000; at += 3) records.delete(`${at}`);
    const left = Array.from({ length: 1000 }, (_, at) => 999 - at).filter((at) => at % 3 !== 0);
    const pages = Array.from({ length: 67 }, (_, page) => records.page(page + 1, 10));
    expect(pages.flatMap(({ items }) => items.map(({ id }) => Number(id)))).toEqual(left);
    expect(pages[0]?.totalPages).toBe(67);
    expect(records.page(68, 10).items).toEqual([]);
  });

  test('keep their place when they are replaced', () => {
    const { records } = open();
    for (const id of ['a', 'b', 'c']) records.put({ id });
    records.put({ id: 'b', text: 'changed' });
    expect(ids(records)).toEqual(['c', 'b', 'a']);
    expect(records.get('b')).toEqual({ id: 'b', text: 'changed' });
  });
});

describe('a transaction', () => {
  test('is in the journal as a whole before any side effect runs', () => {
    const { changes, records, written } = open();
    const seen: number[] = [];
    changes.transact(() => {
      records.put({ id: 'a' });
      changes.afterwards(() => seen.push(written.length));
      changes.transact(() => records.put({ id: 'b' }));
    });
    expect(written).toHaveLength(1);
    expect(written[0]?.map(({ value }) => value)).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect(seen).toEqual([1]);
  });

  test.each([
    ['its work throws', false],
    ['the journal fails', true],
  ])('changes nothing if %s', (_, fails) => {
    const { changes, records, written, state } = open();
    for (const id of ['a', 'b', 'c']) records.put({ id });
    state.fails = fails;
    const work = () => {
      records.put({ id: 'd' });
      records.put({ id: 'b', text: 'changed' });
      records.delete('a');
      records.delete('b');
      records.put({ id: 'e' });
      changes.afterwards(() => expect.unreachable());
      if (!fails) throw new Error('no');
    };
    expect(() => changes.transact(work)).toThrow(fails ? 'disk full' : 'no');
    expect(written).toHaveLength(3);
    expect(ids(records)).toEqual(['c', 'b', 'a']);
    expect(records.get('b')).toEqual({ id: 'b' });
    state.fails = false;
    records.put({ id: 'f' });
    expect(ids(records)).toEqual(['f', 'c', 'b', 'a']);
    expect(written.at(-1)).toEqual([expect.objectContaining({ place: 4, value: { id: 'f' } })]);
  });
});
