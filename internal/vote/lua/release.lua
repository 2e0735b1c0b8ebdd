-- Gives the lease back where it is ours, and wakes standbys.
-- KEYS: lease, record. ARGV: value, token, channel.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'holder', 'token', 'ttl', 'value', 'asked', 'heir', 'heir_ms')
if lease and lease ~= ARGV[1] then
  return {'taken', now, r[1] or '0', lease, redis.call('PTTL', KEYS[1]), r[2] or '', r[3] or '0', r[4] or '0'}
end
if lease then
  redis.call('DEL', KEYS[1])
elseif r[5] ~= ARGV[1] then
  return {'expired', now, '0'}
end
-- Here the value is that of the last grant: with its owner's word nobody can believe
-- in that any more, even if the lease was lost before its time (R7). A record that
-- was lost is not begun anew: it would have no expiry.
if r[3] then
  redis.call('HSET', KEYS[2], 'until', '0')
  if ARGV[2] ~= '0' then
    redis.call('HSET', KEYS[2], 'released', ARGV[2])
  end
  -- Whoever was asked for goes first for a while, once: see acquire.
  if r[6] == ARGV[2] and r[7] and r[7] ~= '' then
    redis.call('HSET', KEYS[2], 'asked', '', 'heir_until', string.format('%.0f', now + math.max(tonumber(r[8] or '0') or 0, 0)))
  end
end
-- pcall: a missing channel permission costs only the wake-up.
local heard = redis.pcall('PUBLISH', ARGV[3], ARGV[1])
if type(heard) ~= 'number' then
  heard = 0
end
if not lease then
  return {'expired', now, '0'}
end
return {'released', now, heard}
