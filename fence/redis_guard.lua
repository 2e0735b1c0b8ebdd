-- Stands behind the act, which the caller of NewScript wrote: act(KEYS, ARGV).
-- KEYS: the guard's key, the act's keys. ARGV: token, the act's arguments.
-- What the act returns stands in the second place of the reply, and what it
-- raises is caught: so it cannot be taken for an answer of the guard, nor make a
-- client send it again.
local known = redis.call('GET', KEYS[1])
if known and (not string.find(known, '^[1-9]%d*$') or #known > 16 or tonumber(known) > 9007199254740991) then
  return {'foreign'}
end
local seen, token = tonumber(known or '0'), tonumber(ARGV[1])
if token < seen then
  return {'fenced', known}
end
if token > seen then
  redis.call('SET', KEYS[1], ARGV[1])
end
local keys, args = {}, {}
for i = 2, #KEYS do
  keys[i - 1] = KEYS[i]
end
for i = 2, #ARGV do
  args[i - 1] = ARGV[i]
end
local ok, reply = pcall(act, keys, args)
local text = type(reply) == 'table' and rawget(reply, 'err')
if type(text) == 'string' then
  return {'failed', text}
end
if not ok then
  return {'failed', tostring(reply)}
end
return {'done', reply}
