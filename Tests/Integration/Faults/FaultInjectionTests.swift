import ErrorContract
import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Testing
import Timekeeping

/// Connections that are cut after any byte, between the client with its default middleware and a server with its keys in SQLite.
///
/// `HOLDFAST_ROUNDS` sets the number of calls, over all transports.
@Suite(.timeLimit(.minutes(60))) struct FaultInjectionTests {
    /// The tested transports.
    enum Transport: CaseIterable, Sendable {
        case urlSession, asyncHTTPClient

        /// On Linux a response that ends within its head ends the process: URLSession stops with "Transfer completed, but there's
        /// no
        /// response". A transport over it can't prevent that.
        var diesOfUnfinishedHeads: Bool {
            #if canImport(FoundationNetworking)
                self == .urlSession
            #else
                false
            #endif
        }

        func make() -> any HTTPTransport {
            switch self {
            case .urlSession: .urlSession()
            case .asyncHTTPClient: .asyncHTTPClient()
            }
        }
    }

    /// One call and the faults of its connections.
    struct Call: Sendable, CustomStringConvertible {
        let name: String
        let method: HTTPRequest.Method
        let isKeyed: Bool
        let body: [UInt8]
        let cuts: [FaultProxy.Cut]

        init(_ number: Int) {
            var random = SplitMix64(seed: UInt64(number))
            name = "call-\(number)"
            method = Bool.random(using: &random) ? .post : .put
            isKeyed = Int.random(in: 0..<3, using: &random) > 0
            let length = Bool.random(using: &random) ? Int.random(in: 1..<400, using: &random) : 0
            body = Array(repeating: UInt8(ascii: "x"), count: length)
            cuts = (0..<Int.random(in: 1...2, using: &random)).map { _ in
                FaultProxy.Cut(
                    place: [.accept, .request, .request, .response, .response].randomElement(using: &random) ?? .request,
                    bytes: Int.random(in: 0..<500, using: &random),
                    isReset: Bool.random(using: &random)
                )
            }
        }

        var headers: HTTPFields { isKeyed ? [.idempotencyKey: "\"\(name)\""] : [:] }
        var description: String { "\(name): \(method)\(isKeyed ? " with a key" : ""), \(body.count) bytes, \(cuts)" }
    }

    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 1_000
    /// The number of calls of each transport.
    private static let share = max(1, rounds / Transport.allCases.count)

    @Test(
        "For any cut, keyed requests execute once and unkeyed ones are not resent",
        arguments: Transport.allCases
    )
    func cuts(transport: Transport) async throws {
        let server = CountingServer()
        try await server.run { url in
            let totals = try await withThrowingTaskGroup(of: Totals.self) { group in
                let lanes = 8
                for lane in 0..<lanes {
                    group.addTask {
                        try await FaultProxy.run(
                            before: url.port ?? 0,
                            keepsHeadsWhole: transport.diesOfUnfinishedHeads
                        ) { proxy, port in
                            let client = Lane(server: server, proxy: proxy, port: port, transport: transport.make())
                            var totals = Totals()
                            for number in stride(from: lane, to: Self.share, by: lanes) {
                                totals += try await client.run(Call(number))
                            }
                            return totals
                        }
                    }
                }
                return try await group.reduce(into: Totals()) { $0 += $1 }
            }
            // Otherwise the test has tested nothing.
            #expect(totals.cuts > Self.share / 3)
            #expect(totals.repeats > Self.share / 10)
            #expect(totals.unkeyedCut > Self.share / 20)
        }
    }

    /// The totals of a number of calls.
    struct Totals: Sendable {
        var cuts = 0
        /// Requests beyond the first of a call.
        var repeats = 0
        /// POSTs without a key whose connection was cut.
        var unkeyedCut = 0

        static func += (totals: inout Totals, more: Totals) {
            totals.cuts += more.cuts
            totals.repeats += more.repeats
            totals.unkeyedCut += more.unkeyedCut
        }
    }
}

/// A proxy and the calls through it, one after another, over connections that are reused.
private struct Lane {
    let server: CountingServer
    let proxy: FaultProxy
    let port: Int
    let transport: any HTTPTransport

    func run(_ call: FaultInjectionTests.Call) async throws -> FaultInjectionTests.Totals {
        // Makes a first call, so that there is a connection to reuse.
        _ = try await client().send(.get, "/")
        proxy.arm(call.cuts)
        let first = await outcome(call)
        let seen = proxy.seen
        let done = server[call.name]
        var totals = FaultInjectionTests.Totals(cuts: seen.cuts, repeats: max(0, seen.requests - 1))
        if call.isKeyed {
            #expect(done <= 1, "\(call)")
        } else if call.method == .post {
            totals.unkeyedCut = min(1, seen.cuts)
            #expect(seen.requests <= 1 && seen.connections <= 1, "\(call): sent again, \(seen)")
            #expect(done <= 1, "\(call)")
            if seen.cuts > 0 { #expect(first != nil, "\(call)") }
        }
        if first == nil { #expect(done >= 1, "\(call)") }
        proxy.arm([])
        if call.isKeyed {
            // A later call with the same key executes the operation only if it was not executed before. While an earlier request is in
            // progress, the call fails.
            var error: APIError?
            try? await eventually {
                error = await outcome(call)
                return error == nil
            }
            #expect(error == nil, "\(call): \(String(describing: error))")
            #expect(server[call.name] == 1, "\(call)")
        }
        server.forget(call.name)
        return totals
    }

    /// Returns a client with the default middleware, on a clock that does not wait.
    private func client() throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")),
            transport: transport,
            middleware: ClientPipeline.standard(),
            environment: ClientEnvironment(clock: MonotonicClock(HastyClock()))
        )
    }

    private func outcome(_ call: FaultInjectionTests.Call) async -> APIError? {
        do {
            let body = RequestBody(call.body, contentType: "application/octet-stream")
            _ = try await client().send(call.method, "/effects/\(call.name)", body: body, headers: call.headers)
            return nil
        } catch {
            return error as? APIError ?? APIError(error)
        }
    }
}
