import { BESIDE, LAYOUT } from '../layout-version.js';
import { STALLED_MS } from '../store.js';
import { IS_FAILING, SEEN } from './layout.js';
import { Script } from './script.js';

const PRELUDE = `
local limit, found, foreign = tonumber(ARGV[1]), {}, {}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function int(number)
  return string.format('%.0f', number)
end

-- Another hand may have written into an index: its entry has no place in the order of the keys.
-- From the end, because a client may put a prefix before the names of its keys.
local function isKey(text, index)
  local shard = string.match(index, '{(%x%x)}:%a+$')
  return #text == 64 and string.sub(text, 1, 2) == shard and not string.find(text, '%X')
end

local function add(index, keys, after)
  local isForeign = false
  for _, key in ipairs(keys) do
    if #found >= limit then break end
    if not isKey(key, index) then
      isForeign = true
    elseif key > after then
      found[#found + 1] = key
    end
  end
  if isForeign then foreign[#foreign + 1] = index end
end
`;

/**
 * Makes a script over the indexes of some shards. KEYS: the indexes, in order. Returns keys of deliveries in them,
 * up to the limit, and after a ";" the indexes that also hold something else.
 */
const indexScript = (text: string) =>
  new Script(`${PRELUDE}
for _, index in ipairs(KEYS) do
  if #found >= limit then break end
  ${text}
end
return '=' .. table.concat(found, ',') .. ';' .. table.concat(foreign, ',')
`);

/** KEYS: "dead" of some shards. ARGV: the limit. Finds deliveries whose time is over. */
export const OLD_DEAD = indexScript(`
  add(index, redis.call('ZRANGEBYSCORE', index, '-inf', int(now), 'LIMIT', 0, limit), '')
`);

/** KEYS: "open" of some shards. ARGV: the limit. Finds stalled deliveries whose time may be over. */
export const OLD_OPEN = indexScript(`
  add(index, redis.call('ZRANGEBYSCORE', index, '-inf', int(now - ${SEEN}), 'LIMIT', 0, limit), '')
  add(index, redis.call('ZRANGEBYSCORE', index, 0, '(' .. int(now - ${STALLED_MS}), 'LIMIT', 0, limit), '')
`);

/** KEYS: "dead" of some shards. ARGV: the limit, and the key to begin after. */
export const DEAD = indexScript(`
  local keys = redis.call('ZRANGE', index, 0, -1)
  table.sort(keys)
  add(index, keys, ARGV[2])
`);

/** KEYS: "open" of some shards. ARGV: the limit, and the key to begin after. */
export const STALLED = indexScript(`
  local keys = redis.call('ZRANGEBYSCORE', index, '-inf', '(' .. int(now - ${STALLED_MS}))
  table.sort(keys)
  add(index, keys, ARGV[2])
`);

/**
 * KEYS: "open" of some shards. ARGV: the limit, and the key to begin after. Finds all deliveries that are not
 * stalled. The caller has to leave out those in their first attempt.
 */
export const DUE = indexScript(`
  local keys = redis.call('ZRANGEBYSCORE', index, int(now - ${STALLED_MS}), '+inf')
  table.sort(keys)
  add(index, keys, ARGV[2])
`);

/** How many deliveries a script reads at most. Meanwhile, the server answers no other client. */
const READS = 2_000;

/**
 * KEYS: the indexes of some shards. ARGV: dead, stalled or failing, the prefix of their `d`, and how many entries of
 * the first index to skip. Reads at most {@link READS} deliveries. Returns the count, and if there may be more to
 * read, how many of the indexes were read whole, and how many entries of the next one. Misses a delivery, or counts
 * it twice, if its place in the index changes between two calls. The keys of these deliveries are not in KEYS, but
 * are in the slot of their index.
 */
export const COUNT_READ = new Script(`${IS_FAILING}
local wanted, prefix, skip = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time, count, left = redis.call('TIME'), 0, ${READS}
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stalled = string.format('%.0f', now - ${STALLED_MS})
local from, to = '-inf', '+inf'
if wanted == 'stalled' then to = '(' .. stalled elseif wanted == 'failing' then from = stalled end
for at, index in ipairs(KEYS) do
  local keys = redis.call('ZRANGEBYSCORE', index, from, to, 'LIMIT', skip, left)
  left = left - #keys
  for _, key in ipairs(keys) do
    local delivery = string.gsub(index, '%a+$', '') .. key
    local fields = redis.pcall('HMGET', delivery, 's', 'a', 'x', 'n', 'd')
    if not fields.err and string.sub(fields[5] or '', 1, #prefix) == prefix
      and (wanted ~= 'failing' or isFailing(now, unpack(fields))) then count = count + 1 end
  end
  if left == 0 then return string.format('=%d,%d,%d', count, at - 1, skip + #keys) end
  skip = 0
end
return '=' .. count
`);

/** KEYS: the indexes of some shards. ARGV: dead or stalled. */
export const COUNT = new Script(`
local time, count = redis.call('TIME'), 0
local before = time[1] * 1000 + math.floor(time[2] / 1000) - ${STALLED_MS}
for _, index in ipairs(KEYS) do
  if ARGV[1] == 'dead' then count = count + redis.call('ZCARD', index)
  else count = count + redis.call('ZCOUNT', index, '-inf', string.format('(%.0f', before)) end
end
return '=' .. count
`);

/** KEYS: any key, which decides the node to run on. */
export const INFO = new Script(`
return '=' .. redis.call('INFO', 'memory') .. redis.call('INFO', 'persistence')
`);

/**
 * KEYS: the key that records the layout, as "layout beside". Records the layout of this version if that is newer.
 * Returns the recorded layout if this version is not compatible with it, and otherwise an empty reply; or, after a "!",
 * the command that the user of the client may not run. Without SET, for example, a delivery would be handled, never
 * recorded as done, and handled again.
 */
export const RECORD_LAYOUT = new Script(`
-- On a key that does not exist, each changes nothing.
local none = KEYS[1] .. ':none'
for _, call in ipairs({ {'GET', none}, {'SET', none, '', 'XX'}, {'DEL', none}, {'PERSIST', none},
  {'PEXPIREAT', none, 1}, {'HMGET', none, 's'}, {'HGET', none, 's'}, {'HKEYS', none}, {'HEXISTS', none, 's'},
  {'ZADD', none, 'XX', 1, 'k'}, {'ZREM', none, 'k'} }) do
  local reply = redis.pcall(unpack(call))
  local refusal = type(reply) == 'table' and reply.err or ''
  -- Redis 7.0, and other versions.
  if string.find(refusal, 'run this command') or string.find(refusal, 'permissions to run') then
    return '=!' .. call[1]
  end
end
local found = redis.call('GET', KEYS[1]) or ''
local layout, beside = string.match(found, '^(%d+) (%d+)$')
if beside and tonumber(beside) > ${LAYOUT} then return '=' .. found end
-- Where memory is full, it is recorded by the next one.
if not layout or tonumber(layout) < ${LAYOUT} then redis.pcall('SET', KEYS[1], '${LAYOUT} ${BESIDE}') end
return '='
`);
