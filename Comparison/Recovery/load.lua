-- What wrk sends to the account server: arguments KIND FILE PAUSE.
--   reset     FILE holds known addresses; every second request names one of them, each once, and the others are nobody's
--   validate  FILE holds tokens
--   login     as reset, with a password that is wrong
--   refresh   FILE holds refresh tokens, at least one for each connection; each response brings another
--   me        FILE holds an access token
--   get       FILE is the path itself
-- PAUSE is the mean time between two requests of a connection, in milliseconds; 0 is none.
local kind, lines, pause, sent, headers, stem, first

function init(arguments)
    kind, pause, sent = arguments[1], tonumber(arguments[3] or "0"), 0
    headers = { ["Content-Type"] = "application/json" }
    lines = {}
    if kind == "get" then
        lines[1] = arguments[2]
    else
        for line in io.lines(arguments[2]) do lines[#lines + 1] = line end
    end
    -- wrk asks for pauses and shows answers only if there is somebody to: both cost it time.
    if pause > 0 then
        function delay() return math.floor(pause * (0.5 + math.random())) end
    end
    if kind == "refresh" then
        first = 1
        function response(status, _, body)
            lines[#lines + 1] = status == 200 and body:match('"refresh_token":"([^"]+)"') or nil
        end
    end
    if kind == "login" then
        hashed = 0
        function response(status)
            if status == 401 then hashed = hashed + 1 end
        end
    end
    -- Strangers of this run are nobody's of another.
    math.randomseed(os.time() + math.floor(os.clock() * 1000000))
    stem = string.format("s%06x", math.random(0, 0xffffff))
end

local function address()
    if sent % 2 == 0 then return lines[(sent / 2 - 1) % #lines + 1] end
    return stem .. sent .. "@example.org"
end

local function post(path, body) return wrk.format("POST", path, headers, body) end

function request()
    sent = sent + 1
    if kind == "reset" then return post("/api/request-password-reset/", '{"email":"' .. address() .. '"}') end
    if kind == "login" then
        return post("/api/auth/login", '{"email":"' .. address() .. '","password":"not the password of anybody"}')
    end
    if kind == "refresh" then
        -- Without one left, the server refuses.
        local token = lines[first] or "none"
        first = first + 1
        return post("/api/auth/refresh", '{"refresh_token":"' .. token .. '"}')
    end
    local line = lines[(sent - 1) % #lines + 1]
    if kind == "validate" then return post("/api/validate-reset-token/", '{"token":"' .. line .. '"}') end
    if kind == "me" then return wrk.format("GET", "/api/auth/me", { Authorization = "Bearer " .. line }) end
    return wrk.format("GET", line)
end

local threads = {}
function setup(thread) threads[#threads + 1] = thread end

function done(summary, latency)
    local hashed = 0
    for _, thread in ipairs(threads) do hashed = hashed + (thread:get("hashed") or 0) end
    local errors = summary.errors
    io.write(string.format(
        "RESULT %d %.3f %d %d %.3f %.3f %.3f %.3f %d\n",
        summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3, hashed
    ))
end
