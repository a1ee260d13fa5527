-- What wrk sends to either server: arguments PATH MEMBER FILE. Each request has a JSON body with one member, whose values are the lines of
-- the file in turn; without a file they are addresses of strangers, each once.
local path, member, lines, sent, stem
local headers = { ["Content-Type"] = "application/json" }

function init(arguments)
    path, member, sent = arguments[1], arguments[2], 0
    if arguments[3] then
        lines = {}
        for line in io.lines(arguments[3]) do lines[#lines + 1] = line end
    end
    math.randomseed(os.time() + math.floor(os.clock() * 1000000))
    stem = string.format("s%06x", math.random(0, 0xffffff))
end

function request()
    sent = sent + 1
    local value = lines and lines[(sent - 1) % #lines + 1] or stem .. sent .. "@example.org"
    return wrk.format("POST", path, headers, '{"' .. member .. '":"' .. value .. '"}')
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        "RESULT %d %.3f %d %d %.3f\n",
        summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(95) / 1e3
    ))
end
