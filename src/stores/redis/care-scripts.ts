import { ABANDONED, ABANDONED_INTERRUPTED, STALLED_MS } from '../store.js';
import { deliveryScript, IS_FAILING, SEEN } from './layout.js';

/** KEYS: the delivery and its indexes. */
export const REDRIVE = deliveryScript(`
local state, fence, not_before = read('s', 'f', 'n')
if not state or state == 'done' then return '=false' end
local now = clock()
if state ~= 'dead' and tonumber(not_before) >= now - ${STALLED_MS} then return '=false' end
-- First: see the fenced verbs.
redis.call('PERSIST', delivery)
redis.call('HDEL', delivery, 'e', 'o')
redis.call('HSET', delivery, 's', 'retry', 'f', int(math.max(fence + 1, now)), 'a', 0, 'x', 0,
  'n', int(now))
redis.call('ZREM', dead, key)
if redis.call('HEXISTS', delivery, 'b') == 1 then redis.call('ZADD', open, int(now), key) end
return '=true'
`);

/** KEYS: the delivery and its indexes. */
export const IS_DONE = deliveryScript(`return read('s') == 'done' and '=true' or '=false'`);

/** KEYS: the delivery and its indexes. Returns whether the delivery was deleted, or marked as abandoned. */
export const PURGE = deliveryScript(`
local state, not_before, purge_at = read('s', 'n', 'p')
if not state or state == 'done' then
  drop()
  return '=false'
end
-- What another hand has written stays, and must not keep the others from being purged.
if not (tonumber(purge_at) and tonumber(not_before)) then return '=false' end
local now = clock()
-- What is not due leaves the range that purging looks through, whatever had brought it there.
if state == 'dead' then
  redis.call('ZREM', open, key)
  if tonumber(purge_at) > now then
    redis.call('ZADD', dead, 'XX', int(purge_at), key)
    return '=false'
  end
  redis.call('DEL', delivery)
  redis.call('ZREM', dead, key)
  return '=true'
end
redis.call('ZREM', dead, key)
if tonumber(not_before) >= now - ${STALLED_MS} then
  redis.call('ZADD', open, 'XX', int(not_before), key)
  return '=false'
end
if tonumber(purge_at) > now then
  redis.call('ZADD', open, 'XX', int(math.min(purge_at - ${SEEN}, -1)), key)
  return '=false'
end
bury(now, purge_at, state == 'leased' and '${JSON.stringify(ABANDONED_INTERRUPTED)}'
  or '${JSON.stringify(ABANDONED)}')
return '=true'
`);

/** The reply for a delivery that is in an index and cannot be read. */
export const UNREADABLE = '!';

/**
 * KEYS: the delivery and its indexes. ARGV: dead, stalled or failing. Returns an empty reply if the delivery is no
 * longer in that state.
 */
export const READ = deliveryScript(`${IS_FAILING}
local state, attempts, failures, fence, not_before, reason, described, body =
  read('s', 'a', 'x', 'f', 'n', 'e', 'd', 'b')
if not state and redis.call('EXISTS', delivery) == 1 then return '=${UNREADABLE}' end
if not state or state == 'done' then
  drop()
  return '='
end
not_before = tonumber(not_before)
if not (not_before and attempts and fence and described) then return '=${UNREADABLE}' end
local wanted, is, now = ARGV[1], nil, clock()
if state == 'dead' then is = 'dead'
elseif not_before < now - ${STALLED_MS} then is = 'stalled'
elseif isFailing(now, state, attempts, failures, not_before) then is = 'failing' end
if wanted ~= is or not body then return '=' end
local lapsed = state == 'leased' and not_before < now
return '=[' .. attempts .. ',' .. (reason or 'null') .. ',' .. described .. ',"' .. body .. '",' .. fence
  .. ',' .. int(not_before) .. ',' .. tostring(lapsed) .. ']'
`);
