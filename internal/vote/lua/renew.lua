-- Lengthens the lease where it is ours. KEYS: lease, record. ARGV: value, ttl ms, token, retention ms.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'until', 'holder', 'token', 'ttl', 'ask')
local last = tonumber(r[1] or '0')
if not last then
  return {'corrupt', now}
end
-- A master that missed the seal learns the token, whoever holds its lease:
-- raising a record can only make later tokens larger.
local token = tonumber(ARGV[3])
local raised = string.format('%.0f', math.max(last, token))
if lease ~= ARGV[1] then
  if token > last then
    redis.call('HSET', KEYS[2], 'last', raised)
    redis.call('PEXPIRE', KEYS[2], ARGV[4])
  end
  if lease then
    local left = redis.call('PTTL', KEYS[1])
    return {'taken', now, raised, lease, left, r[3] or '', r[4] or '0', r[5] or '0'}
  end
  return {'expired', now, raised}
end
local till = math.max(tonumber(r[2] or '0') or 0, now + tonumber(ARGV[2]))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('HSET', KEYS[2], 'last', raised, 'token', ARGV[3], 'until', string.format('%.0f', till))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return {'renewed', now, raised, r[6] or ''}
