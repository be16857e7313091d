import { KEEP_DEAD_MS, STALLED_MS } from '../store.js';
import { Script } from './script.js';

/** The Redis key that records the layout of all deliveries. No delivery has such a key. */
export const LAYOUT_KEY = 'wh:{00}:layout';

/** Means forever: the largest integer that Lua's numbers hold. */
export const EVER = Number.MAX_SAFE_INTEGER;

/** Subtracted from times to move them below 0, where they keep their order. */
export const SEEN = 10_000_000_000_000;

/** Converts a number to an argument of a script. */
export function integer(value: number): string {
  return String(Math.max(-EVER, Math.min(Math.ceil(value), EVER)));
}

/*
 * A done delivery is a plain string, its fence, which takes the least memory and expires by itself. Any other
 * delivery is a hash:
 *
 *   s state (leased, retry, dead)   o owner      f fence         a attempts   x failures
 *   n not before, in ms             p purge at   e error, JSON   h:… a completed step, JSON
 *   r the fence under which it was renewed
 *   d [scope, id, event, received at, proof], JSON               b body, in base64; an effect has none
 *
 * Two sorted sets per shard hold the keys of deliveries with a body:
 *
 *   open  leased and retry, by n; deliveries that a purge has found stalled before their time is over, by
 *         p - SEEN, which is below 0
 *   dead  by p
 *
 * A reply is a text that begins with "=", so that no client parses it as JSON or a number.
 */
const PRELUDE = `
local delivery, open, dead = KEYS[1], KEYS[2], KEYS[3]
local key = string.match(delivery, '[^:]*$')

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function int(number)
  return string.format('%.0f', number)
end

-- The fields of a hash; "done" alone where it is a string.
local function read(...)
  local fields = redis.pcall('HMGET', delivery, ...)
  if not fields.err then return unpack(fields) end
  if string.find(fields.err, 'WRONGTYPE', 1, true) then return 'done' end
  error(fields.err)
end

local function bury(now, purge_at, reason)
  local keep = math.max(tonumber(purge_at), now + ${KEEP_DEAD_MS})
  redis.call('HSET', delivery, 's', 'dead', 'p', int(keep), 'e', reason)
  redis.call('ZREM', open, key)
  if redis.call('HEXISTS', delivery, 'b') == 1 then
    redis.call('ZADD', dead, int(keep), key)
  elseif keep < ${EVER} then
    redis.call('PEXPIREAT', delivery, int(keep))
  end
end

-- Where the server has forgotten it otherwise.
local function drop()
  redis.call('ZREM', open, key)
  redis.call('ZREM', dead, key)
end
`;

/** The Lua function that returns whether a delivery is failing, from `now` and fields of its hash. */
export const IS_FAILING = `
local function isFailing(now, state, attempts, failures, not_before)
  if state ~= 'leased' and state ~= 'retry' then return false end
  not_before = tonumber(not_before)
  if not not_before or not_before < now - ${STALLED_MS} then return false end
  return (tonumber(failures) or 0) > 0 or (tonumber(attempts) or 0) > 1
    or (state == 'leased' and not_before < now)
end
`;

/** Makes a script over one delivery. Its KEYS are those of `deliveryKeys`. */
export const deliveryScript = (text: string) => new Script(PRELUDE + text);

/** The number of arguments for each delivery in a script over several deliveries. */
export const WIDTH = 6;

/**
 * Makes a script over several deliveries, with the keys and WIDTH arguments of each. Its reply has a line for
 * each.
 *
 * @param answer - The body of the function that answers for one delivery.
 */
export const deliveriesScript = (definitions: string, answer: string) =>
  new Script(`${PRELUDE}
local now = clock()
${definitions}
local function answer(...)
${answer}
end

local answers = {}
for at = 1, #KEYS / 3 do
  delivery, open, dead = KEYS[3 * at - 2], KEYS[3 * at - 1], KEYS[3 * at]
  key = string.match(delivery, '[^:]*$')
  answers[at] = answer(unpack(ARGV, ${WIDTH} * (at - 1) + 1, ${WIDTH} * at))
end
return '=' .. table.concat(answers, '\\n')
`);
