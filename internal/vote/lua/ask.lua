-- Leaves a request to hand over with the lease of the term that it names. Renewals
-- return it, and the release of that term keeps the lease for its heir.
-- KEYS: lease, record. ARGV: token, request, id of the heir, ms for which it goes first.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'holder', 'token', 'ttl')
if not lease then
  return {'free', now, r[1] or '0'}
end
-- A record that has this token is there, and expires: none is begun here.
local status = 'other'
if r[3] == ARGV[1] then
  status = 'asked'
  redis.call('HSET', KEYS[2], 'ask', ARGV[2], 'asked', ARGV[1], 'heir', ARGV[3], 'heir_ms', ARGV[4])
end
return {status, now, r[1] or '0', lease, redis.call('PTTL', KEYS[1]), r[2] or '', r[3] or '0', r[4] or '0'}
