-- Says that nobody can be leading, so that the first election need not wait for
-- guards (R6). It refuses where somebody holds the lease. KEYS: lease, record.
-- ARGV: retention ms.
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local lease = redis.call('GET', KEYS[1])
local r = redis.call('HMGET', KEYS[2], 'last', 'holder', 'token', 'ttl')
if lease then
  return {'held', now, r[1] or '0', lease, redis.call('PTTL', KEYS[1]), r[2] or '', r[3] or '0', r[4] or '0'}
end
local info = redis.pcall('INFO', 'server', 'replication')
if type(info) ~= 'string' then
  info = redis.pcall('INFO')
end
local run, id = '', ''
if type(info) == 'string' then
  run = string.match(info, 'run_id:(%w+)') or ''
  if run ~= '' then
    id = run .. '-' .. (string.match(info, 'master_replid2:(%w+)') or '')
  end
end
redis.call('HSET', KEYS[2], 'until', '0', 'run_id', id, 'init', run, 'fresh_until', '0', 'guard_id', '', 'guard_until', '0', 'arms', '0',
  'heir_until', '0')
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return {'ready', now, r[1] or '0'}
