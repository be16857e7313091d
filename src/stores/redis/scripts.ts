import { AHEAD_MS, INTERRUPTED } from '../store.js';
import { deliveriesScript, EVER } from './layout.js';

/** The argument in place of a body, for an effect, which has none. */
export const NO_BODY = '-';

/** Claims deliveries. ARGV for each: owner, lease, keep, crashes, d, b. */
export const CLAIM = deliveriesScript(
  `
local function acquired(fence, attempt, steps)
  return '{"state":"acquired","fence":' .. int(fence) .. ',"attempt":' .. int(attempt)
    .. ',"steps":[' .. table.concat(steps, ',') .. ']}'
end
`,
  `
local owner, lease, keep, crashes, described, body = ...
lease, keep, crashes = tonumber(lease), tonumber(keep), tonumber(crashes)
local state, holder, fence, attempts, failures, not_before, purge_at, renewed =
  read('s', 'o', 'f', 'a', 'x', 'n', 'p', 'r')
if state == 'done' then return '{"state":"done"}' end
if not state then
  local fields = { 's', 'leased', 'o', owner, 'f', int(now), 'a', 1, 'x', 0, 'n', int(now + lease),
    'p', int(math.min(now + keep, ${EVER})), 'd', described }
  if body == '${NO_BODY}' then
    redis.call('HSET', delivery, unpack(fields))
  else
    redis.call('HSET', delivery, 'b', body, unpack(fields))
    redis.call('ZADD', open, int(now + lease), key)
  end
  return acquired(now, 1, {})
end
if state == 'dead' then return '{"state":"dead"}' end

local mine = state == 'leased' and holder == owner
-- Claimed before the clock was set back: the retry is due, and the lease ends no later than a lease taken now.
local ahead = (tonumber(fence) or 0) > now + ${AHEAD_MS}
if not mine and tonumber(not_before) > now and not (ahead and state == 'retry') then
  if ahead and tonumber(not_before) > now + lease then
    not_before = now + lease
    redis.call('HSET', delivery, 'n', int(not_before))
    redis.call('ZADD', open, 'XX', int(not_before), key)
  end
  return '{"state":"busy","retryAfterMs":' .. int(not_before - now) .. '}'
end
if not mine then
  -- What was claimed and never begun, because the answer was lost, has crashed nobody.
  local counts = state ~= 'leased' or renewed == fence or attempts - failures <= 1
  fence = math.max(fence + 1, now)
  if state == 'leased' and counts and attempts - failures >= crashes then
    redis.call('HSET', delivery, 'f', int(fence))
    bury(now, purge_at, '${JSON.stringify(INTERRUPTED)}')
    return '{"state":"dead"}'
  end
  if counts then attempts = attempts + 1 end
  purge_at = math.max(tonumber(purge_at), math.min(now + keep, ${EVER}))
end
redis.call('HSET', delivery, 's', 'leased', 'o', owner, 'f', int(fence), 'a', int(attempts),
  'n', int(now + lease), 'p', int(tonumber(purge_at)))
redis.call('ZADD', open, 'XX', int(now + lease), key)

local steps = {}
for _, field in ipairs(redis.call('HKEYS', delivery)) do
  if string.sub(field, 1, 2) == 'h:' then
    steps[#steps + 1] = '[' .. string.sub(field, 3) .. ',' .. redis.call('HGET', delivery, field) .. ']'
  end
end
return acquired(fence, attempts, steps)
`,
);

/** Runs verbs that need a fence. ARGV for each delivery: the verb, the fence, and the arguments of the verb. */
export const FENCED = deliveriesScript(
  `
local function remember(keep, fence, purge_at)
  keep = purge_at >= ${EVER} and purge_at or math.max(keep, purge_at - now)
  -- First: a script that has begun to write may go on where memory is full. SET replaces the hash: the lease stays
  -- if the server refuses either.
  redis.call('ZREM', open, key)
  if keep >= ${EVER} then redis.call('SET', delivery, int(fence))
  elseif keep > 0 then redis.call('SET', delivery, int(fence), 'PX', int(keep))
  else redis.call('DEL', delivery) end
  return 'true'
end

local function wait_until(not_before)
  redis.call('HSET', delivery, 'n', int(not_before))
  redis.call('ZADD', open, 'XX', int(not_before), key)
end
`,
  `
local verb, fence, first, second = ...
fence = tonumber(fence)
local state, current, attempts, failures, purge_at = read('s', 'f', 'a', 'x', 'p')
if state == 'done' then
  local isMine = verb == 'complete' and tonumber(redis.call('GET', delivery)) == fence
  return isMine and 'true' or 'lost'
end
if tonumber(current) ~= fence then return 'lost' end
-- Asked again, as where the answer was lost: nobody has claimed it since.
if verb == 'release' and state == 'retry' then return 'true' end
if verb == 'fail' and (state == 'retry' or state == 'dead') then return state end
if state ~= 'leased' then return 'lost' end
if verb == 'complete' then return remember(tonumber(first), fence, tonumber(purge_at)) end

-- Writes nothing, but begins to: what was claimed may go on where memory is full.
redis.call('PERSIST', delivery)

if verb == 'renew' then
  redis.call('HSET', delivery, 'r', int(fence))
  wait_until(now + first)
elseif verb == 'step' then
  redis.call('HSET', delivery, 'h:' .. first, second)
elseif verb == 'release' then
  redis.call('HSET', delivery, 's', 'retry', 'a', int(attempts - 1))
  wait_until(now)
else
  redis.call('HSET', delivery, 'x', int(failures + 1))
  if first == 'true' then
    bury(now, purge_at, second)
    return 'dead'
  end
  redis.call('HSET', delivery, 's', 'retry', 'e', second)
  wait_until(now)
  return 'retry'
end
return 'true'
`,
);
