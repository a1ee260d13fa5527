import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import Hummingbird
import Logging
import NIOCore
import OfflineQueue
import ResilientHTTP

/// Measures an offline queue: `scripts/bench-queue` runs each step in a separate process.
@main enum QueueBenchmark {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "serve": try await serve()
        case "fill" where arguments.count == 5:
            try await fill(arguments[1], Int(arguments[2]) ?? 0, lanes: Int(arguments[3]) ?? 1, server: arguments[4])
        case "open" where arguments.count == 3: try await open(arguments[1], server: arguments[2])
        case "drain" where arguments.count == 3: try await drain(arguments[1], server: arguments[2])
        default:
            print("usage: holdfast-queue-benchmark serve | fill FOLDER REQUESTS LANES URL | open FOLDER URL | drain FOLDER URL")
            exit(2)
        }
    }

    /// Responds to each request with a small JSON object.
    private static func serve() async throws {
        let router = Router(context: BasicRequestContext.self)
        router.post("/items") { request, _ -> Response in
            _ = try await request.body.collect(upTo: 1_048_576)
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: #"{"success":true,"data":{"id":7}}"#))
            )
        }
        var logger = Logger(label: "server")
        logger.logLevel = .error
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                print(channel.localAddress?.port ?? 0)
                fflush(nil)
            },
            logger: logger
        )
        try await application.runService()
    }

    private static func queue(_ folder: String, server: String) async throws -> OfflineQueue {
        guard let url = URL(string: server) else { throw URLError(.badURL) }
        let client = APIClient(baseURL: url, transport: AsyncHTTPClientTransport())
        var options = OfflineQueue.Options()
        options.limits.count = .max
        options.limits.bytes = .max
        return try await OfflineQueue.open(URL(filePath: folder), client: client, options: options)
    }

    /// The 512-byte bodies of notes, one lane after the other.
    private static func fill(_ folder: String, _ count: Int, lanes: Int, server: String) async throws {
        let queue = try await queue(folder, server: server)
        let body = ResilientHTTP.RequestBody([UInt8](repeating: UInt8(ascii: "x"), count: 384), contentType: "text/plain")
        var times: [Duration] = []
        for number in 0..<count {
            let begin = ContinuousClock.now
            try await queue.enqueue(.post, "/items", body: body, options: .queued(lane: "lane \(number % lanes)"))
            times.append(ContinuousClock.now - begin)
        }
        for (name, part) in [("first tenth", times.prefix(count / 10)), ("last tenth", times.suffix(count / 10))] {
            let sorted = part.sorted()
            let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
            print("enqueue, \(name): median \(microseconds(median)) µs, 99th percentile \(microseconds(late)) µs")
        }
    }

    private static func open(_ folder: String, server: String) async throws {
        let empty = try await queue(folder + ".empty", server: server)
        let base = memory()
        let begin = ContinuousClock.now
        let queue = try await queue(folder, server: server)
        let time = ContinuousClock.now - begin
        print("open: \(queue.counts.pending) requests in \(microseconds(time) / 1_000) ms")
        print("memory: \(memory()) MB, an empty queue \(base) MB")
        withExtendedLifetime(empty) {}
    }

    private static func drain(_ folder: String, server: String) async throws {
        let queue = try await queue(folder, server: server)
        let count = queue.counts.pending
        let begin = ContinuousClock.now
        await queue.drain()
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let sent = count - queue.counts.pending
        print("drain: \(sent) of \(count) requests in \(Int(seconds * 1_000)) ms, \(Int(Double(sent) / seconds)) per second")
        print("memory: \(memory()) MB")
    }

    private static func microseconds(_ duration: Duration) -> Int { Int(duration / .microseconds(1)) }

    /// The resident memory of this process in MB.
    private static func memory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1_024
    }
}
