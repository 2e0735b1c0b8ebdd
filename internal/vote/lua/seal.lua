-- Writes a quorum's token where the lease is ours (R11). It refreshes nothing.
-- KEYS: lease, record. ARGV: value, token, retention ms.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'token', 'holder', 'ttl', 'vote')
local last = tonumber(r[1] or '0')
local own = tonumber(r[2] or '0')
if not last or not own or not (last >= 0 and last <= 9007199254740991) then
  return {'corrupt', now}
end
if lease ~= ARGV[1] then
  return {'lost', now, string.format('%.0f', last), lease or '', 0, r[3] or '', string.format('%.0f', own), r[4] or '0'}
end
local token = tonumber(ARGV[2])
if token > 9007199254740991 then
  return {'spent', now}
end
if r[5] ~= '1' and own == token then
  return {'sealed', now} -- the same seal, sent again
end
-- Somebody raised the record since our vote to a token that is not below ours:
-- leading with ours would repeat or undercut it.
if last >= token then
  return {'regressed', now, string.format('%.0f', last)}
end
redis.call('HSET', KEYS[2], 'last', ARGV[2], 'token', ARGV[2], 'vote', '')
if not r[2] then
  redis.call('PEXPIRE', KEYS[2], ARGV[3]) -- the record was lost since our vote
end
return {'sealed', now}
