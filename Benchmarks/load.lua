-- For wrk: asks for the paths of a file in turn, where one is named, by a method and with a body where these are;
-- prints what came out as JSON.
function init(arguments)
  if not arguments[1] then return end
  local requests, index = {}, 0
  for path in io.lines(arguments[1]) do requests[#requests + 1] = wrk.format(arguments[2], path, nil, arguments[3]) end
  request = function()
    index = index % #requests + 1
    return requests[index]
  end
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"p50":%d,"p99":%d,"longest":%d,' ..
    '"refused":%d,"broken":%d,"late":%d}',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50),
    latency:percentile(99), latency.max, errors.status, errors.connect + errors.read + errors.write,
    errors.timeout))
end
