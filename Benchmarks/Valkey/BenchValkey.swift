import Foundation
import Logging
import RateLimiting
import ValkeyDriver
import ValkeyStores

/// Measures decisions per second: the bare script, 64 pipelined on one blocking connection, and `ValkeyRateLimitStore` with 64 concurrent
/// callers. Both take turns. Arguments: the URL of an empty Redis, rounds, seconds per measurement, and, to stop the server for 3 s
/// instead, its process id.
@main enum BenchValkey {
    static let rules = [
        RateLimitRule(.requests(1_000_000_000, per: .seconds(60), name: "a", algorithm: .strictGCRA(burst: 500_000_000))),
        RateLimitRule(.requests(1_000_000_000, per: .seconds(60), name: "b", algorithm: .strictGCRA(burst: 500_000_000))),
        RateLimitRule(.requests(1_000_000_000, per: .seconds(60), name: "c", algorithm: .strictGCRA(burst: 500_000_000))),
    ]
    static let callers = 64

    static func main() async throws {
        let arguments = CommandLine.arguments
        let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 5 : 5
        let seconds = arguments.count > 3 ? Double(arguments[3]) ?? 3 : 3
        let address = try ValkeyAddress(url: arguments[1])
        if arguments.count > 4, let server = Int32(arguments[4]) {
            return try await Faults.run(address, server: server, rounds: rounds)
        }
        let client = ValkeyClient(
            address: address,
            scripts: ValkeyRateLimitStore<ContinuousClock>.scripts,
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        )
        try await client.waitUntilReady(within: .seconds(5))
        let store = ValkeyRateLimitStore(
            rules,
            client: client,
            secret: KeySecret(),
            deadline: .seconds(5),
            clock: ContinuousClock(),
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        )
        for claims in [1, 3] {
            for keys in [1, 1_000_000] {
                let bare = try BareScript(address, claims: claims, keys: keys)
                var rates: (bare: [Double], store: [Double]) = ([], [])
                for _ in 0..<rounds {
                    rates.bare.append(try bare.rate(seconds: seconds))
                    rates.store.append(try await rate(of: store, claims: claims, keys: keys, seconds: seconds))
                }
                let ratios = zip(rates.store, rates.bare).map { $0 / $1 }
                print(
                    "\(claims) claims, \(keys) keys: bare \(Int(median(rates.bare)))/s, store \(Int(median(rates.store)))/s, "
                        + "\(Int(median(ratios) * 100)) %"
                )
            }
        }
        await store.close()
    }

    static func rate(
        of store: ValkeyRateLimitStore<ContinuousClock>,
        claims: Int,
        keys: Int,
        seconds: Double
    ) async throws -> Double {
        let end = ContinuousClock.now + .seconds(seconds)
        let start = ContinuousClock.now
        let count = try await withThrowingTaskGroup { group in
            for _ in 0..<callers {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < end {
                        let request = rules[..<claims].map { RateLimitClaim($0.policy.name, key: Int.random(in: 0..<keys)) }
                        guard try await store.admit(request).isAdmitted else { fatalError("refused") }
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// The script without a client: batches of encoded commands on a blocking socket.
final class BareScript {
    private let socket: Int32
    private let claims: Int
    private let keys: Int
    private let digest: String
    /// The commands, encoded before the measurement.
    private var batches: [[UInt8]] = []

    init(_ address: ValkeyAddress, claims: Int, keys: Int) throws {
        (self.claims, self.keys) = (claims, keys)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(address.port).bigEndian
        target.sin_addr.s_addr = inet_addr(address.host)
        let socket = socket
        let status = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(.ECONNREFUSED) }
        let text = ValkeyRateLimitStore<ContinuousClock>.scripts[0].text
        let load = Self.command([Array("SCRIPT".utf8), Array("LOAD".utf8), Array(text.utf8)])
        _ = load.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
        var reply = [UInt8](repeating: 0, count: 128)
        let count = reply.withUnsafeMutableBytes { read(socket, $0.baseAddress, $0.count) }
        digest = String(decoding: reply[5..<(count - 2)], as: UTF8.self)
        batches = (0..<256).map { _ in (0..<BenchValkey.callers).flatMap { _ in call() } }
    }

    deinit { close(socket) }

    func rate(seconds: Double) throws -> Double {
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        // The reply: `$`, two or three digits, the time, and 32 bytes for each key.
        let body = 8 + 32 * claims
        let size = (1 + String(body).utf8.count + 2 + body + 2) * BenchValkey.callers
        var buffer = [UInt8](repeating: 0, count: size)
        var count = 0
        while ContinuousClock.now < end {
            let batch = batches[(count / BenchValkey.callers) % batches.count]
            _ = batch.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            var received = 0
            while received < size {
                let piece = buffer.withUnsafeMutableBytes { read(socket, $0.baseAddress, size - received) }
                guard piece > 0 else { throw POSIXError(.EPIPE) }
                received += piece
            }
            count += BenchValkey.callers
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private func call() -> [UInt8] {
        let rules = BenchValkey.rules[..<claims]
        var arguments: [[UInt8]] = []
        for text in ["EVALSHA", digest, String(claims + 1), "{bare}"] { arguments.append(Array(text.utf8)) }
        for rule in rules {
            let key = String(Int.random(in: 0..<keys) + 0x1000_0000_0000_0000, radix: 16)
            arguments.append(Array("{bare}\(rule.policy.name):\(key)".utf8))
        }
        // The known canary is also the candidate, so the script counts each call.
        let canary = Array("0123456789abcdef".utf8)
        arguments += [canary, canary, pack([1, 0])]
        for rule in rules { arguments.append(pack([0, 1, 60_000_000, Int64(rule.policy.burst), 1, 1 << 52])) }
        return Self.command(arguments)
    }

    private func pack(_ numbers: [Int64]) -> [UInt8] {
        numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian, Array.init) }
    }

    private static func command(_ arguments: [[UInt8]]) -> [UInt8] {
        Array("*\(arguments.count)\r\n".utf8)
            + arguments.flatMap { Array("$\($0.count)\r\n".utf8) + $0 + Array("\r\n".utf8) }
    }
}
