import RateLimiting
import Timekeeping
import ValkeyDriver

/// The Lua scripts that count requests. Valkey runs a script atomically, so it counts concurrent requests of several servers one after
/// another.
///
/// Times are whole microseconds of the server's clock since 1970. Lua's numbers represent them exactly. All numbers have 8 bytes and are
/// big-endian.
///
/// The value of a key has one of two forms:
///
/// - Sliding window: `r`, the window, and the instants of the admissions in the window, oldest first.
/// - Strict GCRA: `g`, the instant at which all units are available again, the emission (the time after which one more unit is available),
///   and the burst.
///
/// A value therefore contains numbers of the policy at the time of the write: the window, or the emission and the burst. If the policy has
/// changed since the write, the next script converts the value. So a change of a policy doesn't give clients a new burst.
enum LimitScript {
    /// Decides about a request with several keys. The script charges all keys, or none.
    ///
    /// The script charges nothing if the client doesn't know the canary value. In this case, the server may have lost its data, and the
    /// client must first apply its own counts.
    ///
    /// - `KEYS`: the canary (the key that shows whether the server has lost its data), and then the key of each claim.
    /// - `ARGV`, in this order: the canary value that the client knows; the value to write if the server has none; whether to charge, and
    ///   the time (0 uses the server's clock); the numbers of each claim, such as its cost and window.
    /// - Result: the time. Then, for each claim, the delay, the remaining units, the time until more units remain, and the mark, which is a
    ///   number by which a refund finds the charge. If the client doesn't know the server's canary value, this value follows at the end.
    ///   ``LimitReply`` decodes the result.
    ///
    /// Complexity: O(number of claims · log(units in a window)), plus copying the values of sliding windows.
    static let decide = ValkeyScript(
        state + """
            local canary = redis.call('GET', KEYS[1])
            if not canary then
              canary = ARGV[2]
              redis.call('SET', KEYS[1], canary)
            end
            local charges, fixed = unpack('>I8I8', ARGV[3])
            if canary ~= ARGV[1] then charges = 0 end
            local now = clock(fixed)
            local claims = {}
            local refused, shadow = false, false
            for i = 2, #KEYS do
              local claim = {}
              local mode
              mode, claim.cost, claim.window, claim.burst, claim.emission, claim.changed = unpack('>I8I8I8I8I8I8', ARGV[i + 2])
              claim.shadow = mode == 1
              local value = redis.call('GET', KEYS[i])
              if claim.emission == 0 then ring(claim, value, now) else gcra(claim, value, now) end
              if claim.delay > 0 then
                if claim.shadow then shadow = true else refused = true end
              end
              claims[i] = claim
            end
            for i = 2, #KEYS do
              local claim = claims[i]
              if charges == 1 and not refused and not (claim.shadow and shadow) then
                charge(claim, now)
                store(KEYS[i], claim, now)
              elseif charges == 1 and claim.corrected then
                store(KEYS[i], claim, now)
              end
            end
            local reply = {pack('>I8', now)}
            for i = 2, #KEYS do
              local claim = claims[i]
              local remaining, reset = standing(claim, now)
              reply[i] = pack('>I8I8I8I8', claim.delay, remaining, reset, claim.freshAt or now)
            end
            if canary ~= ARGV[1] then reply[#reply + 1] = canary end
            return table.concat(reply)
            """
    )

    /// Refunds a charge if the keys still contain the charge. After the window has passed, or if the server has lost its data since the
    /// charge, a refund changes nothing.
    ///
    /// - `KEYS`: the canary, and then the keys.
    /// - `ARGV`, in this order: the canary value at the charge; the time (0 uses the server's clock); for each key, the units, the instant
    ///   of the charge, the mark of the charge, the burst and the emission.
    static let refund = ValkeyScript(
        state + """
            if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
            local now = clock(unpack('>I8', ARGV[2]))
            for i = 2, #KEYS do
              local units, instant, mark, burst, emission = unpack('>I8I8I8I8I8', ARGV[i + 1])
              local value = redis.call('GET', KEYS[i])
              if value and emission == 0 and string.sub(value, 1, 1) == 'r' then
                local charged = pack('>I8', mark)
                local left = {}
                local body = string.sub(value, 10)
                for place = 1, #body, 8 do
                  local unit = string.sub(body, place, place + 7)
                  if units > 0 and unit == charged then units = units - 1 else left[#left + 1] = unit end
                end
                local claim = {emission = 0, window = unpack('>I8', value, 2), body = table.concat(left)}
                store(KEYS[i], claim, now)
              elseif value and emission > 0 and string.sub(value, 1, 1) == 'g' then
                local freshAt, storedEmission, storedBurst = unpack('>I8I8I8', value, 2)
                if storedEmission == emission and storedBurst == burst and freshAt >= mark then
                  local returned = units * emission
                  -- Without this charge the debt before the next one could have ended earlier, by the time since at most.
                  if freshAt > mark then returned = math.max(0, returned - math.max(0, now - instant)) end
                  store(KEYS[i], {emission = emission, burst = burst, freshAt = math.max(0, freshAt - returned)}, now)
                end
              end
            end
            return 1
            """
    )

    /// Extends the expiry of keys after a change of a policy to a longer window. `ARGV` is the minimum time to live in milliseconds. The
    /// script doesn't change keys that have no expiry or a longer time to live.
    static let extend = ValkeyScript(
        """
        for i = 1, #KEYS do
          local left = redis.call('PTTL', KEYS[i])
          if left >= 0 and left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[i], ARGV[1]) end
        end
        return 1
        """
    )

    /// All scripts. The client loads them when it connects.
    static let all = [decide, refund, extend]

    /// Lua functions that read, change and write the values of keys.
    private static let state = """
        local pack, unpack = struct.pack, struct.unpack
        local never = 9007199254740991

        -- The time in microseconds. TIME goes on within a script: read it once. Tests fix it.
        local function clock(fixed)
          if fixed > 0 then return fixed end
          local time = redis.call('TIME')
          return tonumber(time[1]) * 1000000 + tonumber(time[2])
        end

        -- The units of a ring that are younger than an instant: a binary search, since they are sorted.
        local function after(body, instant)
          local low, high = 0, #body / 8
          while low < high do
            local middle = math.floor((low + high) / 2)
            if unpack('>I8', body, middle * 8 + 1) <= instant then low = middle + 1 else high = middle end
          end
          if low == 0 then return body end
          return string.sub(body, low * 8 + 1)
        end

        -- Units that were all admitted at one instant.
        local function units(count, instant) return string.rep(pack('>I8', instant), count) end

        -- What a GCRA owes in units of its burst, and the instant as of which it is known: that of the policy's change, or the
        -- earliest at which it can have been charged last.
        local function owed(value, changed, now)
          local freshAt, emission, burst = unpack('>I8I8I8', value, 2)
          local asOf = math.min(now, math.max(changed, freshAt - burst * emission))
          return math.min(burst, math.ceil(math.max(0, freshAt - asOf) / emission)), asOf
        end

        -- Reads a sliding window and decides.
        local function ring(claim, value, now)
          local body = ''
          if value and string.sub(value, 1, 1) == 'r' then
            body = string.sub(value, 10)
            local newest = 0
            if #body > 0 then newest = unpack('>I8', body, #body - 7) end
            if newest > now then
              -- The clock went back. As if no time had passed since the last admission.
              local earlier = {}
              for place = 1, #body, 8 do
                earlier[#earlier + 1] = pack('>I8', math.max(0, unpack('>I8', body, place) - newest + now))
              end
              body = table.concat(earlier)
              claim.corrected = true
            end
            local window = unpack('>I8', value, 2)
            if window < claim.window then body = after(body, math.min(claim.changed, now) - window) end
          elseif value then
            local count, asOf = owed(value, claim.changed, now)
            -- A GCRA stores no instants: as if all units were admitted at the change.
            if count > 0 then body = units(claim.burst, asOf) end
          end
          body = after(body, now - claim.window)
          claim.body = body
          claim.delay = 0
          local missing = claim.cost - (claim.burst - #body / 8)
          if claim.cost > claim.burst then
            claim.delay = never
          elseif missing > 0 then
            claim.delay = math.max(0, unpack('>I8', body, missing * 8 - 7) + claim.window - now)
          end
        end

        -- Reads a strict GCRA and decides.
        local function gcra(claim, value, now)
          local freshAt = 0
          if value and string.sub(value, 1, 1) == 'g' then
            local storedAt, emission, burst = unpack('>I8I8I8', value, 2)
            freshAt = storedAt
            if emission ~= claim.emission or burst ~= claim.burst then
              local count, asOf = owed(value, claim.changed, now)
              freshAt = asOf + math.min(claim.burst, count) * claim.emission
            end
          elseif value then
            local body = string.sub(value, 10)
            if #body > 0 then
              -- unpack also returns a position. The assignment drops it, so that math.max doesn't take it.
              local newest = unpack('>I8', body, #body - 7)
              local asOf = math.min(now, math.max(claim.changed, newest))
              body = after(body, asOf - unpack('>I8', value, 2))
              if #body > 0 then freshAt = asOf + math.min(claim.burst, #body / 8) * claim.emission end
            end
          end
          local most = now + claim.burst * claim.emission
          if freshAt > most then
            -- The clock went back: no key owes more than all of its burst.
            freshAt = most
            claim.corrected = true
          end
          claim.freshAt = freshAt
          claim.delay = math.max(0, math.max(freshAt, now) - now - (claim.burst - claim.cost) * claim.emission)
          if claim.cost > claim.burst then claim.delay = never end
        end

        local function charge(claim, now)
          if claim.emission == 0 then
            claim.body = claim.body .. units(claim.cost, now)
          else
            claim.freshAt = math.max(claim.freshAt, now) + claim.cost * claim.emission
          end
        end

        -- Writes a key, which expires a millisecond after it owes nothing.
        local function store(key, claim, now)
          local value, ends = nil, now
          if claim.emission == 0 then
            if #claim.body > 0 then
              ends = unpack('>I8', claim.body, #claim.body - 7) + claim.window
              value = 'r' .. pack('>I8', claim.window) .. claim.body
            end
          else
            ends = claim.freshAt
            value = 'g' .. pack('>I8I8I8', claim.freshAt, claim.emission, claim.burst)
          end
          if value and ends > now then
            redis.call('SET', key, value, 'PX', string.format('%.0f', math.ceil((ends - now) / 1000) + 1))
          else
            redis.call('DEL', key)
          end
        end

        -- How many units are left, and the time until they are more.
        local function standing(claim, now)
          if claim.emission == 0 then
            local live = #claim.body / 8
            if live == 0 then return claim.burst, 0 end
            local place = 1 + math.max(0, live - claim.burst)
            return math.max(0, claim.burst - live), unpack('>I8', claim.body, place * 8 - 7) + claim.window - now
          end
          local debt = math.max(claim.freshAt, now) - now
          local remaining = math.max(0, math.floor((claim.burst * claim.emission - debt) / claim.emission))
          local missing = claim.burst - remaining
          if missing == 0 then return remaining, 0 end
          return remaining, debt - (missing - 1) * claim.emission
        end

        """
}

/// The numbers of a policy that the scripts use. Times are in microseconds.
struct LimitTerms: Hashable, Sendable {
    /// The largest number of units that a client can use at once.
    let burst: Int
    /// The window in microseconds.
    let window: Int64
    /// The time after which one more unit is available, in microseconds; 0 for the sliding window.
    let emission: Int64

    /// Converts a policy. The initializer rounds times up, so the scripts never admit more than the policy.
    /// - Parameter policy: The policy.
    init(_ policy: RateLimitPolicy) {
        burst = policy.burst
        window = policy.window.wholeMicrosecondsRoundedUp
        emission =
            switch policy.algorithm {
            case .slidingWindow: 0
            case .strictGCRA(let burst): window.dividedRoundingUp(by: Int64(policy.quota - burst + 1))
            }
    }

    /// The maximum time from the last admission of a key until all units are available again and the key expires, in microseconds.
    var longestUsage: Int64 { emission == 0 ? window : Int64(burst) * emission }
}

extension Duration {
    /// The microseconds, rounded up.
    var wholeMicrosecondsRoundedUp: Int64 { wholeNanosecondsRoundedUp.dividedRoundingUp(by: 1_000) }
}

extension Int64 {
    /// Returns the quotient of a number that isn't negative and a positive number, rounded up.
    fileprivate func dividedRoundingUp(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder > 0 ? quotient + 1 : quotient
    }
}

/// Encodes and decodes numbers in the format of the scripts.
enum ScriptNumbers {
    /// Encodes each number as 8 bytes, big-endian.
    static func pack(_ numbers: Int64...) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian, Array.init) }
    }

    /// Returns the number at an index.
    /// - Parameters:
    ///   - place: The index of the number, not of its first byte.
    ///   - bytes: The bytes of a reply.
    /// - Returns: The number; 0 if the index is after the end of the bytes.
    static func number(_ place: Int, in bytes: [UInt8]) -> Int64 {
        guard place * 8 + 8 <= bytes.count else { return 0 }
        return bytes.withUnsafeBytes { Int64(bigEndian: $0.loadUnaligned(fromByteOffset: place * 8, as: Int64.self)) }
    }
}

/// The reply of ``LimitScript/decide``: 8 bytes for the time, 32 bytes for each claim, and the canary value if the client doesn't know it.
struct LimitReply {
    /// The server's time in microseconds.
    let now: Int64
    /// The state of each claimed key, in the order of the claims.
    let standings: [Standing]
    /// The canary value of the server; `nil` if the client knows this value. If the value isn't `nil`, the script has charged nothing.
    let canary: [UInt8]?

    /// The state of a key.
    struct Standing {
        /// The microseconds until the request is admitted. 0 means now, and `nil` means never.
        let delay: Int64?
        /// The units that remain.
        let remaining: Int
        /// The microseconds until more units remain; 0 if no units are used.
        let reset: Int64
        /// The value by which a refund finds the charge. For a sliding window, it is the instant of the units. For a strict GCRA, it is the
        /// key's new end of usage.
        let mark: Int64

        /// The delay for comparisons. A request that is never admitted has the longest delay.
        var delayOrNever: Int64 { delay ?? .max }
    }

    /// Decodes a reply.
    /// - Parameters:
    ///   - reply: The bytes of the script.
    ///   - count: The number of claims.
    /// - Throws: `ValkeyError.protocolViolation` if the reply is too short.
    init(_ reply: ValkeyReply, count: Int) throws(ValkeyError) {
        guard case .text(let bytes) = reply, bytes.count >= 8 + 32 * count else { throw .protocolViolation }
        now = ScriptNumbers.number(0, in: bytes)
        standings = (0..<count).map { index in
            let number = { ScriptNumbers.number(1 + 4 * index + $0, in: bytes) }
            let delay = number(0)
            return Standing(
                delay: delay == 9_007_199_254_740_991 ? nil : delay,
                remaining: Int(number(1)),
                reset: number(2),
                mark: number(3)
            )
        }
        canary = bytes.count > 8 + 32 * count ? Array(bytes[(8 + 32 * count)...]) : nil
    }
}
