import AccountContract
import AccountKit
import AsyncHTTPClient
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import ResilientHTTP
import Synchronization

/// The server has a fifth of its processor time for half a minute, while 200 apps continue to sign in.
///
/// The apps use `AccountKit` with all defaults. Together they sign in at four fifths of the rate at which the healthy server
/// hashes.
struct BrownOut: Attack {
    static let name = "brown-out"
    static let abstract = "Take four fifths of its processor time from the server for half a minute, while 200 apps sign in."

    /// Limits count and refuse nothing, because all apps run on one machine.
    var settings: [String: String] { ["RATE_LIMIT_MODE": "shadow"] }
    var lanes: Int { 512 }

    /// A span of a run, in seconds.
    private struct Plan {
        var apps: Int
        var calibration: Double
        var before: Double
        var during: Double
        var after: Double
    }

    private let size: AttackSize
    private let plan: Plan

    init(size: AttackSize) {
        self.size = size
        plan = size.pick(
            small: Plan(apps: 20, calibration: 1, before: 1, during: 4, after: 6),
            full: Plan(apps: 200, calibration: 6, before: 3, during: 30, after: 15)
        )
    }

    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        let people = try await server.people(plan.apps)
        let throttle = Throttle(server)
        let well = try await server.signInsPerSecond(people, seconds: plan.calibration)
        throttle.begin()
        let ill = try await server.signInsPerSecond(people, seconds: plan.calibration)
        throttle.end()
        progress("\(Int(well)) sign-ins per second, \(Int(ill)) with a fifth of the processor time")
        let (calls, recovery) = try await drive(server, people, rate: well * 0.8, throttle)
        let begin = plan.before
        let served = calls.count { $0.isGood && $0.end >= begin && $0.end < recovery }
        let ideal = ill * plan.during
        let sent = calls.filter { $0.begin >= begin && $0.begin < recovery }
        var report = AttackReport()
        switch size {
        case .small:
            // A fifth of the time is little on a busy machine, so that only the count is checked.
            report.require("the server serves in the brown-out", counted: "\(served)", served > 0)
            let last = calls.filter { $0.begin >= recovery + 3 }
            report.require(
                "and after it",
                counted: "\(last.count(where: \.isGood)) of \(last.count)",
                last.contains { $0.isGood }
            )
        case .full, .tenfold:
            report.require(
                "at least 90 % of the sign-ins that are possible",
                counted: "\(served) of \(Int(ideal)), \(Int((Double(served) / ideal * 100).rounded())) %",
                Double(served) >= 0.9 * ideal
            )
            let requests = sent.reduce(0) { $0 + $1.attempts }
            report.note("attempts per call", String(format: "%.2f", Double(requests) / Double(max(1, sent.count))))
            for (first, last) in [(0.0, 5.0), (5, 10), (10, 15)] {
                let span = calls.filter { $0.begin >= recovery + first && $0.begin < recovery + last }
                let good = span.count(where: \.isGood)
                report.note("success \(Int(first)) to \(Int(last)) s after", "\(good) of \(span.count)")
            }
        }
        return report
    }

    private struct App: Sendable {
        var api: APIClient
        var email: EmailAddress
    }

    private struct Call: Sendable {
        var begin: Double
        var end: Double
        var isGood: Bool
        var attempts: Int
    }

    /// Signs in from all apps before, during and after the brown-out.
    ///
    /// At the small size, the brown-out and the time after it also last until a sign-in has succeeded, at most three minutes longer than
    /// planned. On a busy machine, the planned time can be too short for one sign-in.
    /// - Parameter rate: The calls per second of all apps together.
    /// - Returns: The calls, and the end of the brown-out in seconds.
    private func drive(
        _ server: AttackedServer,
        _ people: [String],
        rate: Double,
        _ throttle: Throttle
    ) async throws -> (calls: [Call], recovery: Double) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = lanes
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        let calls = Guarded<[Call]>([])
        let (url, begin, password) = (try server.url, ContinuousClock.now, try Password(AttackedServer.password))
        let now: @Sendable () -> Double = { (ContinuousClock.now - begin) / .seconds(1) }
        let (recovery, isOver) = (Guarded(plan.before + plan.during), Guarded(false))
        let apps = try people.enumerated().map { number, person in
            let origin = Origin(client: ClientAddresses.network48(1_000 + number))
            let api = APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard() + [origin])
            return App(api: api, email: try EmailAddress(person))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await withThrowingDiscardingTaskGroup { attempts in
                    var next = 0.0
                    while rate > 0 {
                        // The calls of independent apps at random times are also random when they are taken together.
                        next += -log(Double.random(in: 1e-9...1)) / rate
                        try await Task.sleep(until: begin + .seconds(next), clock: .continuous)
                        guard !isOver.current, let app = apps.randomElement() else { return }
                        attempts.addTask {
                            let start = now()
                            var call = Call(begin: start, end: start, isGood: true, attempts: 1)
                            do throws(APIError) {
                                _ = try await AccountClient(api: app.api).signIn(email: app.email, password: password)
                            } catch {
                                (call.isGood, call.attempts) = (false, error.attempts)
                            }
                            call.end = now()
                            let ended = call
                            calls.withLock { $0.append(ended) }
                        }
                    }
                }
            }
            group.addTask {
                try await Task.sleep(until: begin + .seconds(plan.before), clock: .continuous)
                throttle.begin()
                try await Task.sleep(until: begin + .seconds(plan.before + plan.during), clock: .continuous)
                if size == .small {
                    _ = try await server.wait { _ in calls.current.contains { $0.isGood && $0.end >= plan.before } }
                    recovery.withLock { $0 = now() }
                }
                throttle.end()
                let first = recovery.current
                try await Task.sleep(until: begin + .seconds(first + plan.after), clock: .continuous)
                if size == .small {
                    _ = try await server.wait { _ in calls.current.contains { $0.isGood && $0.begin >= first + 3 } }
                }
                isOver.withLock { $0 = true }
            }
            try await group.waitForAll()
        }
        return (calls.current, recovery.current)
    }
}

/// Gives each app a different address.
private struct Origin: ClientMiddleware {
    let client: String

    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        var request = request
        if let name = HTTPField.Name("X-Forwarded-For") { request.headerFields[name] = client }
        return try await next(request, body)
    }
}

/// Stops a server for 40 ms of every 50 ms.
private final class Throttle: Sendable {
    private let server: AttackedServer
    private let isOn = Mutex(false)

    init(_ server: AttackedServer) { self.server = server }

    func begin() {
        isOn.withLock { $0 = true }
        Thread { [self] in
            while isOn.withLock(\.self), let process = server.processID {
                kill(process, SIGSTOP)
                usleep(40_000)
                kill(process, SIGCONT)
                usleep(10_000)
            }
        }.start()
    }

    func end() { isOn.withLock { $0 = false } }
}
