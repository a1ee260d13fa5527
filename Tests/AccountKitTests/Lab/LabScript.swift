import AccountKit
import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

/// A model of the error lab whose server responds from a script, and the clock that it waits on.
struct LabScript {
    /// 2025-11-04T10:30:00Z
    static let start = Date(timeIntervalSince1970: 1_762_252_200)

    let transport: ScriptedTransport
    let clock = ManualClock()
    let model: ErrorLabModel

    @MainActor init(
        _ steps: [ScriptedTransport.Step],
        middleware: [any ClientMiddleware] = [],
        language: Language = .english
    ) throws {
        transport = ScriptedTransport(steps)
        model = ErrorLabModel(
            baseURL: try #require(URL(string: "https://api.example.com/base")),
            transport: transport,
            middleware: middleware,
            language: language,
            clock: clock,
            wallClock: { [clock] in Self.start.addingTimeInterval(Double(clock.now.offset.wholeSecondsRoundedUp)) },
            newSession: { "session-1" }
        )
    }

    /// Returns a scenario of the table.
    static func scenario(_ name: String) throws -> LabScenario {
        try #require(LabScenario.all().first { $0.name == name })
    }

    /// Runs a scenario of the table.
    @MainActor func run(_ name: String) async throws {
        await model.run(try Self.scenario(name))
    }

    /// Runs a scenario, and advances the clock by each of the expected delays.
    @MainActor func run(_ name: String, waiting waits: [Duration]) async throws {
        let scenario = try Self.scenario(name)
        async let run: Void = model.run(scenario)
        for wait in waits {
            await clock.waitForSleepers()
            clock.advance(by: wait - .nanoseconds(1))
            #expect(clock.sleeperCount == 1, "it waited less than \(wait)")
            clock.advance(by: .nanoseconds(1))
        }
        await run
    }

    var paths: [String?] { transport.sent.map(\.request.path) }
}

extension ScriptedTransport.Step {
    /// A success response of the lab.
    static func reply(attempt: Int = 1, authorized: Bool = false) -> Self {
        let body = #"{"lab":"ok","method":"GET","attempt":\#(attempt),"authorized":\#(authorized)}"#
        return .response(status: 200, headers: id, body: body)
    }

    /// A pair of tokens of the lab.
    static func tokens(_ name: String) -> Self {
        let body = #"{"access_token":"access-\#(name)","refresh_token":"refresh-\#(name)","lifetime_ms":5000}"#
        return .response(status: 200, body: body)
    }

    /// An error of the lab that names its request.
    static func labError(_ status: Int, _ code: ErrorCode, retryAfter: Int? = nil) -> Self {
        var headers = id
        headers[.retryAfter] = retryAfter.map(String.init)
        return .response(status: status, headers: headers, body: #"{"error":{"code":"\#(code)","message":"m","details":{}}}"#)
    }

    private static var id: HTTPFields { [.requestID: "r-1"] }
}
