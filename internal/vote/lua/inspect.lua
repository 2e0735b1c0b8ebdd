-- Reads all that is stored. KEYS: lease, record.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local r = redis.call('HMGET', KEYS[2], 'last', 'token', 'holder', 'ttl', 'until', 'released', 'run_id', 'guard_until', 'arms', 'fresh_until', 'init', 'guard_id', 'heir', 'heir_until')
for i = 1, 14 do
  r[i] = r[i] or ''
end
local lease = redis.call('GET', KEYS[1])
return {'state', now, r[1], lease or '', redis.call('PTTL', KEYS[1]), r[3], r[2], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14]}
