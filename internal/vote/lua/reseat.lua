-- Gives a leader back the vote of a master that lost it (R12). Never a first
-- vote: the caller holds a majority elsewhere. KEYS: lease, record.
-- ARGV: value, ttl ms, token, holder, retention ms, limit (server time in ms; 0: none), max ttl ms.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local r = redis.call('HMGET', KEYS[2], 'last', 'until', 'fresh_until')
local last = tonumber(r[1] or '0')
if not last or not (last >= 0 and last <= 9007199254740991) then
  return {'corrupt', now}
end
local limit = tonumber(ARGV[6] or '0')
if limit > 0 and now > limit then
  return {'late', now} -- the term may be over by now
end
if last > tonumber(ARGV[3]) then
  return {'regressed', now, string.format('%.0f', last)}
end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {'taken', now, string.format('%.0f', last), redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1]), '', '0', '0'}
end
-- run_id stays as it is: only a grant sets it (R5). Onto no record the guard is
-- armed: what else was lost with it nobody knows (R6).
if not r[2] and not r[3] then
  local length = string.format('%.0f', now + tonumber(ARGV[7]))
  redis.call('HSET', KEYS[2], 'fresh_until', length, 'guard_until', length, 'arms', '1')
end
local till = math.max(tonumber(r[2] or '0') or 0, now + tonumber(ARGV[2]))
redis.call('HSET', KEYS[2], 'value', ARGV[1], 'last', ARGV[3], 'token', ARGV[3], 'vote', '',
  'until', string.format('%.0f', till), 'holder', ARGV[4], 'ttl', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return {'reseated', now}
