#!lua flags=no-writes
local missing, named = {}, {}
local function try(name, ...)
  local reply = redis.pcall(name, ...)
  local text = type(reply) == 'table' and reply.err or ''
  local denied = string.find(text, 'NOPERM', 1, true) or string.find(text, 'ACL failure', 1, true)
    or string.find(text, 'executing the script', 1, true)
  if denied and not named[name] then
    named[name] = true
    missing[#missing + 1] = name
  end
end
try('GET', KEYS[1])
try('SET', KEYS[1], '')
try('DEL', KEYS[1])
try('PTTL', KEYS[1])
try('PEXPIRE', KEYS[1], '1')
try('HSET', KEYS[2], 'last', '')
try('HMGET', KEYS[2], 'last')
try('PEXPIRE', KEYS[2], '1')
try('TIME')
try('PUBLISH', ARGV[1], '')
return missing
