-- Lengthens the lease where it is ours. KEYS: lease, record. ARGV: value, ttl ms, token, retention ms.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'until', 'ask')
local last = tonumber(r[1] or '0')
if not last or not (last >= 0 and last <= 9007199254740991) then
  return {'corrupt', now}
end
local token = tonumber(ARGV[3])
if lease == ARGV[1] then
  local till = math.max(tonumber(r[2] or '0') or 0, now + tonumber(ARGV[2]))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('HSET', KEYS[2], 'last', string.format('%.0f', math.max(last, token)), 'token', ARGV[3], 'vote', '',
    'until', string.format('%.0f', till))
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  return {'renewed', now, 0, r[3] or ''}
end
-- A master that missed the seal learns the token, whoever holds its lease:
-- raising a record can only make later tokens larger.
if token > last then
  redis.call('HSET', KEYS[2], 'last', ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
local raised = string.format('%.0f', math.max(last, token))
if not lease then
  return {'expired', now, raised}
end
local who = redis.call('HMGET', KEYS[2], 'holder', 'token', 'ttl')
return {'taken', now, raised, lease, redis.call('PTTL', KEYS[1]), who[1] or '', who[2] or '0', who[3] or '0'}
