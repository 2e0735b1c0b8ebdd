-- One master's grant. KEYS: lease, record.
-- ARGV: value, ttl ms, floor, holder, retention ms, seal ('1': a vote that awaits its seal),
-- limit (server time in ms; 0: none).
-- The time is read once; lease and record change together.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'token', 'holder', 'ttl', 'until')
local last = tonumber(r[1] or '0')
local own = tonumber(r[2] or '0')
if not last or not own or not (last >= 0 and last <= 9007199254740991) then
  return {'corrupt', now}
end
if lease == ARGV[1] and own > 0 then
  return {'granted', now, string.format('%.0f', own)}
end
if lease and lease ~= ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  return {'held', now, string.format('%.0f', last), lease, left, r[3] or '', string.format('%.0f', own), r[4] or '0'}
end
-- A bid that was stuck on its way, or at a server that hung, is nobody's any more:
-- granting it would keep others out for a TTL (R10).
local limit = tonumber(ARGV[7] or '0')
if limit > 0 and now > limit then
  return {'late', now}
end
local token = math.max(last + 1, now, tonumber(ARGV[3]) + 1)
if token > 9007199254740991 then
  return {'spent', now}
end
-- pcall: a server that hides INFO still serves, only without a run_id.
local run_id = ''
local info = redis.pcall('INFO', 'server')
if type(info) == 'string' then
  run_id = string.match(info, 'run_id:(%w+)') or ''
end
local s = string.format('%.0f', token)
local till = math.max(tonumber(r[5] or '0') or 0, now + tonumber(ARGV[2]))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
-- A vote raises 'last' only when it is sealed. Else every bid that was refused
-- elsewhere and undone here would keep the leader from getting this master back
-- (R12). Tokens stay safe: a term's token is sealed at a majority, and every later
-- majority meets one of these.
if ARGV[6] ~= '1' then
  redis.call('HSET', KEYS[2], 'last', s)
end
redis.call('HSET', KEYS[2], 'token', s, 'vote', ARGV[6], 'until', string.format('%.0f', till), 'holder', ARGV[4],
  'ttl', ARGV[2], 'run_id', run_id, 'guard_id', '', 'guard_until', '0', 'arms', '0', 'ask', '')
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return {'granted', now, s}
