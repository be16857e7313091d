import { blacklistEntryChanges, newBlacklistEntry } from '../../api/parameters.js';
import { withChanges } from '../state/records.js';
import { newId } from '../trade/ids.js';
import { check } from './form.js';
import { reading, type Service } from './operations.js';

/** Who must not buy (specification: Blacklist). */
export const blacklist: Service['blacklist'] = {
  ...reading(
    ({ blacklist }) => blacklist,
    (entry) => entry,
  ),

  create({ market: { account }, sent }) {
    const { blacklist_type, blocked_data, note = null } = check(newBlacklistEntry, sent);
    const now = account.clock.timestamp();
    const dates = { created_at: now, updated_at: now };
    return account.blacklist.put({ id: newId('bl'), blacklist_type, blocked_data, note, ...dates });
  },

  update({ market: { account }, id, sent }) {
    const entry = account.blacklist.get(id);
    if (!entry) return undefined;
    const changes = check(blacklistEntryChanges, sent);
    return account.blacklist.put({
      ...withChanges(entry, changes),
      updated_at: account.clock.timestamp(),
    });
  },

  delete: ({ market: { account }, id }) => account.blacklist.delete(id),
};
