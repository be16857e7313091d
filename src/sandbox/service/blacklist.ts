import { blacklistEntryChanges, newBlacklistEntry } from '../../api/parameters.js';
import type { JsonObject } from '../../schemas/values.js';
import { withChanges } from '../state/records.js';
import { findNeverBlocks } from '../trade/blacklist.js';
import { newId } from '../trade/ids.js';
import { check } from './form.js';
import { reading, type Service } from './operations.js';

/** The operations on the blacklist, whose entries keep customers from buying (specification: Blacklist). */
export const blacklist: Service['blacklist'] = {
  ...reading(
    ({ blacklist }) => blacklist,
    (entry) => entry,
  ),

  create({ market: { account }, sent }) {
    const entry = check(newBlacklistEntry, sent, wrongEntry());
    const { blacklist_type, blocked_data, note = null } = entry;
    const dates = account.clock.dates();
    return account.blacklist.put({ id: newId('bl'), blacklist_type, blocked_data, note, ...dates });
  },

  update({ market: { account }, id, sent }) {
    const entry = account.blacklist.get(id);
    if (!entry) return undefined;
    const changes = check(blacklistEntryChanges, sent, wrongEntry(entry.blacklist_type));
    return account.blacklist.put({
      ...withChanges(entry, changes),
      updated_at: account.clock.timestamp(),
    });
  },

  delete: ({ market: { account }, id }) => account.blacklist.delete(id),
};

/** @param before - The entry's type before the change. Absent for a new entry. */
const wrongEntry =
  (before?: number) =>
  ({ blacklist_type: type = before, blocked_data }: JsonObject): string[] => {
    if (typeof type !== 'number' || typeof blocked_data !== 'string') return [];
    const wanted = findNeverBlocks(type, blocked_data);
    return wanted ? [`blocked_data has to be ${wanted} if blacklist_type is ${type}`] : [];
  };
