import ErrorContract
import Foundation
import HoldfastTesting
import ServerMiddleware
import Synchronization

@testable import AccountServer
@testable import HoldfastCommand

/// An error of the account server, and the steps that provoke it.
struct ProvokedError: Sendable {
    let code: ErrorCode
    let cause: String
    let provoke: @Sendable (Provocation) async throws -> RawHTTP.Answer

    init(
        _ code: ErrorCode,
        _ cause: String,
        provoke: @escaping @Sendable (Provocation) async throws -> RawHTTP.Answer
    ) {
        self.code = code
        self.cause = cause
        self.provoke = provoke
    }

    /// Creates an error that a single request provokes.
    init(_ code: ErrorCode, _ cause: String, _ method: String, _ path: String, _ json: String? = nil, _ headers: String...) {
        self.init(code, cause) { try await $0.send(method, path, json, headers) }
    }

    /// All errors, in an order in which they can follow each other on one server.
    static let all = requests + input + accounts + failures
}

/// A server for provocations, and the expected form of the response.
struct Provocation: Sendable {
    let server: TestServer
    let hashing: ScriptedHashing
    let clocks: Clocks
    /// Headers that every request has.
    var headers: [String] = []
    /// A name that is unique among the provocations of this server.
    var mark = ""

    /// The clocks of the server's deadlines.
    struct Clocks: Sendable {
        let route = ManualClock()
        let body = ManualClock()
    }

    /// Sends JSON, or no body.
    func send(_ method: String, _ path: String, _ json: String? = nil, _ more: [String] = []) async throws -> RawHTTP.Answer {
        let type = json == nil || more.contains { $0.hasPrefix("Content-Type") } ? [] : ["Content-Type: application/json"]
        return try await RawHTTP.send(
            method,
            path,
            to: server.url,
            headers: headers + type + more,
            body: Array((json ?? "").utf8)
        )
    }

    /// Advances a clock until a response arrives.
    func moving(
        _ clock: ManualClock,
        _ answer: @escaping @Sendable () async throws -> RawHTTP.Answer
    ) async throws -> RawHTTP.Answer {
        let isDone = Mutex(false)
        async let pending = {
            defer { isDone.withLock { $0 = true } }
            return try await answer()
        }()
        while !isDone.withLock({ $0 }) {
            clock.advance(by: .milliseconds(500))
            // Leaves the processor to the server.
            try await Task.sleep(for: .milliseconds(1))
        }
        return try await pending
    }

    /// Runs a server for provocations.
    static func run(form: ErrorForm, _ body: @escaping @Sendable (Provocation) async throws -> Void) async throws {
        let hashing = ScriptedHashing()
        let clocks = Clocks()
        try await withServer(hashing: hashing) {
            $0.errorForm = form
            $0.accountRules.requiresVerifiedEmail = true
            $0.requestDeadline = RequestDeadline(.seconds(30), clock: clocks.route)
            $0.reader = RequestReader(clock: clocks.body)
        } _: { server in
            try await body(Provocation(server: server, hashing: hashing, clocks: clocks))
        }
    }
}
