-- One master's grant. KEYS: lease, record.
-- ARGV: value, ttl ms, floor, holder, retention ms, seal ('1': a vote that awaits its seal),
-- limit (server time in ms; 0: none), max ttl ms, guards that are on (letters of r f n e),
-- assume ('1': no record means that nobody can be leading), id of the candidate.
-- The time is read once; lease and record change together. What cannot be read is 0.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'token', 'holder', 'ttl', 'until', 'fresh_until', 'run_id', 'init',
  'guard_id', 'guard_until', 'arms', 'heir', 'heir_until')
local last = tonumber(r[1] or '0')
local own = tonumber(r[2] or '0')
if not last or not own or not (last >= 0 and last <= 9007199254740991) then
  return {'corrupt', now}
end
-- Who this server is: its process, and the line of replication that it was promoted
-- from, which changes when it was a replica meanwhile. pcall: a server that hides INFO still serves.
local info = redis.pcall('INFO', 'server', 'replication')
if type(info) ~= 'string' then
  info = redis.pcall('INFO') -- before 7.0 it takes one section
end
local run, id, up = '', '', nil
if type(info) == 'string' then
  run = string.match(info, 'run_id:(%w+)') or ''
  up = tonumber(string.match(info, 'uptime_in_seconds:(%d+)') or '')
  if run ~= '' then
    id = run .. '-' .. (string.match(info, 'master_replid2:(%w+)') or '')
  end
end
local notes = ''
if run == '' or not up then
  notes = 'hidden'
end
local mine = lease == ARGV[1] -- R9, before all guards
if mine and own > 0 then
  return {'granted', now, string.format('%.0f', own), '', 0, '', '0', '0', run, notes}
end
-- Guards. R6 and R4 are armed before anything is refused, also where the lease is
-- held, so that they run side by side with it and with each other.
local on = ARGV[9]
local length = math.max(tonumber(ARGV[8]), tonumber(r[4] or '0') or 0) -- R2
local known = r[5] or r[6]
local fresh = tonumber(r[6] or '0') or 0
local guard = tonumber(r[10] or '0') or 0
local seen = r[9] or '' -- the server that armed it
local arms = tonumber(r[11] or '0') or 0
local armed = math.max(fresh, guard) > now + length -- the clock went back: it is cut once
fresh, guard = math.min(fresh, now + length), math.min(guard, now + length)
if mine then
  on = '' -- only its record was lost
end
local limit = tonumber(ARGV[7] or '0')
local late = not lease and limit > 0 and now > limit
if not known and not late and ARGV[10] ~= '1' and string.find(on, 'n', 1, true) then -- R6
  fresh, guard, arms, seen, armed = now + length, now + length, 1, id, true
elseif known and id ~= '' and r[7] ~= id and string.find(on, 'f', 1, true) then -- R4
  if seen == id then
    if arms > 1 and guard <= now then
      arms, armed = 1, true -- it stayed the same for a whole guard: no restless one
    end
  elseif arms < 3 or (guard > 0 and guard + length < now) then
    if guard > 0 and guard + length < now then
      arms = 0 -- no other one was seen for a whole guard after the last: no restless one
    end
    guard, arms, seen, armed = now + length, arms + 1, id, true
  else
    guard, arms, seen, armed = 0, 4, id, true -- another one each time: it stands down
    notes = 'restless'
  end
end
if armed then
  redis.call('HSET', KEYS[2], 'fresh_until', string.format('%.0f', fresh), 'guard_id', seen,
    'guard_until', string.format('%.0f', guard), 'arms', arms)
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end

-- A bid that was stuck on its way, or at a server that hung, is nobody's any more:
-- granting it would keep others out for a TTL (R10).
if late then
  return {'late', now}
end

-- A lease that runs further ahead than any can: the clock went back. It is cut once (R7).
local till = tonumber(r[5] or '0') or 0
local cut = string.find(on, 'e', 1, true) and till > now + length
if cut then
  till = now + length
  redis.call('HSET', KEYS[2], 'until', string.format('%.0f', till))
end
if lease and not mine then
  local left = redis.call('PTTL', KEYS[1])
  if cut and left > length then
    redis.call('PEXPIRE', KEYS[1], length)
    left = length
  end
  return {'held', now, string.format('%.0f', last), lease, left, r[3] or '', string.format('%.0f', own), r[4] or '0', run, notes}
end

local wait, why = 0, ''
if till > now and string.find(on, 'e', 1, true) then -- R7
  wait, why = math.max(wait, till - now), why .. 'e'
end
if fresh > now and string.find(on, 'n', 1, true) then
  wait, why = math.max(wait, fresh - now), why .. 'n'
end
if guard > now and string.find(on, 'f', 1, true) then
  wait, why = math.max(wait, guard - now), why .. 'f'
end
if up and string.find(on, 'r', 1, true) and not (run ~= '' and r[8] == run) then -- R3
  local young = length + 1000 - up * 1000
  if young > 0 then
    wait, why = math.max(wait, young), why .. 'r'
  end
end
-- A lease that was handed over is its heir's for a while. That only ever refuses more,
-- so no promise rests on it; it cannot be switched off, and ends with the next grant.
local first = tonumber(r[13] or '0') or 0
if first > now + length then -- asked for too long, or the clock went back: it is cut once
  first = now + length
  redis.call('HSET', KEYS[2], 'heir_until', string.format('%.0f', first))
end
if first > now and not mine and r[12] and r[12] ~= '' and r[12] ~= ARGV[11] then
  wait, why = math.max(wait, first - now), why .. 'h'
end
if wait > 0 then
  return {'guarded', now, string.format('%.0f', last), '', wait, why, '0', '0', run, notes}
end

local token = math.max(last + 1, now, tonumber(ARGV[3]) + 1)
if token > 9007199254740991 then
  return {'spent', now}
end
local s = string.format('%.0f', token)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
-- A vote raises 'last' only when it is sealed. Else every bid that was refused
-- elsewhere and undone here would keep the leader from getting this master back
-- (R12). Tokens stay safe: a term's token is sealed at a majority, and every later
-- majority meets one of these.
if ARGV[6] ~= '1' then
  redis.call('HSET', KEYS[2], 'last', s)
end
-- Only a grant says which server the record belongs to (R5), and ends its guards.
redis.call('HSET', KEYS[2], 'value', ARGV[1], 'token', s, 'vote', ARGV[6],
  'until', string.format('%.0f', math.max(till, now + tonumber(ARGV[2]))), 'holder', ARGV[4], 'ttl', ARGV[2],
  'run_id', id, 'fresh_until', '0', 'guard_id', '', 'guard_until', '0', 'arms', '0',
  'ask', '', 'asked', '', 'heir', '', 'heir_until', '0')
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return {'granted', now, s, '', 0, '', '0', '0', run, notes}
