import AccountContract
import Foundation
import PasswordHashes
import Synchronization

/// Ten times as many sign-ins as the server can hash, from 16 networks with raised limits.
///
/// Refreshes, reset confirms and health checks succeed as usual, and each other network gets its share of the hashes.
struct Overload: Attack {
    static let name = "overload"
    static let abstract = "Send ten times as many sign-ins as can be hashed, from 16 networks with raised limits."

    /// Limits count and refuse nothing, because this attack targets the processor.
    var settings: [String: String] { ["RATE_LIMIT_MODE": "shadow"] }
    var lanes: Int { 4_096 }

    private static let networks = 16
    private let size: AttackSize
    private let multiple: Double

    init(size: AttackSize) {
        self.size = size
        multiple = size.pick(small: 10, full: 10, tenfold: 100)
    }

    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        let stage = try await Stage(server, people: size.pick(small: 10, full: 200), links: size.pick(small: 4, full: 120))
        return size == .small ? try await count(stage) : try await measure(stage, progress)
    }

    /// Runs the small size: one burst, with counts only.
    private func count(_ stage: Stage) async throws -> AttackReport {
        let attempts = 10 * Self.networks
        async let burst = stage.server.tally(attempts, atOnce: attempts) { try await stage.attempt($0) }
        let calls = try await stage.server.tally(34, atOnce: 4) { number in
            switch number {
            case 0..<4: try await stage.confirm().status
            case 4..<14: try await stage.refresh(session: number - 4).status
            default: try await stage.health(number).status
            }
        }
        let patient = try await stage.server.tally(4, atOnce: 4) { try await stage.patientSignIn($0) }
        let ended = try await burst
        var report = AttackReport()
        report.require("Refreshes, confirmations and health checks", served: calls, percent: 100)
        report.require("Users that return when told", served: patient, percent: 100)
        report.require(
            "Attempts are hashed, or refused with a delay from 1 to 60 s",
            counted: "\(ended)",
            ended[401] + ended[503] == ended.total && ended[401] > 0 && stage.hasHonestDelays
        )
        return report
    }

    /// Runs the full size: rates and times.
    private func measure(_ stage: Stage, _ progress: AttackProgress) async throws -> AttackReport {
        // Measured before and after: other users of a machine's memory make it faster and slower.
        let first = try await Self.hashBound(seconds: 4)
        progress("\(Int(first)) hashes per second")
        let alone = try await stage.signInsPerSecond(seconds: 8)
        let second = try await Self.hashBound(seconds: 4)
        let quiet = try await Load(stage, attemptsPerSecond: 0, seconds: 10).run()
        progress("measured without load")
        let loaded = try await Load(stage, attemptsPerSecond: second * multiple, seconds: 20).run()
        let third = try await Self.hashBound(seconds: 4)
        var report = AttackReport()
        for (kind, longest) in [(Load.Kind.refresh, 50.0), (.confirm, 250), (.health, 50)] {
            let (before, during) = (quiet.calls[kind, default: .init()], loaded.calls[kind, default: .init()])
            report.require(
                "\(kind): at least 99.5 % served",
                counted: "\(during.tally)",
                Double(during.tally.served) >= Double(during.tally.total) * 0.995 && during.tally.total > 0
            )
            let limit = max(3 * before.p99, longest)
            report.require(
                "\(kind): p99 at most \(Int(limit)) ms",
                counted: "\(Int(during.p99)) ms, \(String(format: "%.1f", before.p99)) ms without load",
                during.p99 <= limit
            )
        }
        // A confirmation also takes a hash, so both together can reach the hash bound.
        let signIns = Double(loaded.attempts[401]) / loaded.seconds
        let confirmations = Double(loaded.calls[.confirm, default: .init()].tally.served) / loaded.seconds
        for (text, rate, bound, percent) in [
            ("sign-ins without load", alone, (first + second) / 2, 90.0),
            ("sign-ins and confirmations", signIns + confirmations, (second + third) / 2, 80),
        ] {
            report.require(
                "\(text): at least \(Int(percent)) % of the hash bound",
                counted: "\(Int(rate)) of \(Int(bound)) per second, \(Int((100 * rate / bound).rounded())) %",
                rate >= bound * percent / 100
            )
        }
        let share = Int((200 * signIns / (second + third)).rounded())
        report.note("sign-ins alone", "\(String(format: "%.1f", signIns)) per second, \(share) % of the hash bound")
        report.require("delays from 1 to 60 s", counted: "\(loaded.attempts[503]) refusals", stage.hasHonestDelays)
        report.note("attempts", "\(loaded.attempts), \(Int(Double(loaded.attempts.total) / loaded.seconds)) per second")
        report.note("attempts without load", "\(quiet.attempts)")
        report.note("memory", "\(stage.server.residentMemory / 1_000_000) MB")
        return report
    }

    /// Returns the hashes per second that the server's processors compute without other work.
    static func hashBound(seconds: Double) async throws -> Double {
        let argon2 = Argon2id()
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let end = ContinuousClock.now + .seconds(seconds)
        let hashes = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<cores {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread {
                            ProcessorShare.server.use()
                            var count = 0
                            while ContinuousClock.now < end, (try? argon2.hash("not a password")) != nil { count += 1 }
                            continuation.resume(returning: count)
                        }.start()
                    }
                }
            }
            return await group.reduce(0, +)
        }
        return Double(hashes) / seconds
    }
}

/// The accounts, sessions and links of the calls.
private final class Stage: Sendable {
    let server: AttackedServer
    private let people: [String]
    private let tokens: Mutex<[String]>
    private let sessions: [Guarded<String>]
    private let badDelays = Mutex(0)

    init(_ server: AttackedServer, people count: Int, links: Int) async throws {
        self.server = server
        people = try await server.people(count)
        // A new password ends the sessions of its account, so links have separate accounts.
        for person in try await server.people(links) {
            let body = #"{"email":"\#(person)"}"#
            _ = try await server.call(
                "POST",
                AccountPath.requestPasswordReset,
                body: body,
                from: ClientAddresses.network48(9_000)
            )
        }
        tokens = Mutex(try await Self.tokens(links, in: server.folder))
        var sessions: [Guarded<String>] = []
        for number in 0..<min(20, count) {
            let response = try await server.signIn(people[number], from: ClientAddresses.network48(8_000 + number))
            sessions.append(Guarded(try Self.refreshToken(in: response)))
        }
        self.sessions = sessions
    }

    var sessionCount: Int { sessions.count }

    /// Returns the sign-ins per second without other load.
    func signInsPerSecond(seconds: Double) async throws -> Double {
        try await server.signInsPerSecond(people, seconds: seconds)
    }

    /// Whether every refusal contained a delay within the bounds.
    var hasHonestDelays: Bool { badDelays.withLock { $0 == 0 } }

    /// Attempts a sign-in with a wrong password from one of the attacking networks.
    func attempt(_ number: Int) async throws -> Int {
        let client = ClientAddresses.network48(number % 16)
        let response = try await server.signIn(people[number % people.count], password: "not the password", from: client)
        if response.status == 503 { _ = delay(of: response) }
        return response.status
    }

    /// Signs in from an unused network, and retries after the returned delay.
    func patientSignIn(_ number: Int) async throws -> Int {
        try await server.patientSignIn(people[number], from: ClientAddresses.network48(7_000 + number)).status
    }

    func refresh(session: Int) async throws -> AttackedServer.Response {
        let token = sessions[session].current
        let client = ClientAddresses.network48(8_000 + session)
        let body = #"{"refresh_token":"\#(token)"}"#
        let response = try await server.call("POST", AccountPath.refresh, body: body, from: client)
        if let next = try? Self.refreshToken(in: response) { sessions[session].withLock { $0 = next } }
        return response
    }

    func confirm() async throws -> AttackedServer.Response {
        guard let token = tokens.withLock({ $0.popLast() }) else { throw AttackedServer.Failure(description: "no link is left") }
        let body = #"{"token":"\#(token)","new_password":"a quiet walk by the sea"}"#
        return try await server.call("POST", AccountPath.confirmPasswordReset, body: body, from: ClientAddresses.network48(9_001))
    }

    func health(_ number: Int) async throws -> AttackedServer.Response {
        try await server.call("GET", number.isMultiple(of: 2) ? "/health/live" : "/health/ready")
    }

    private func delay(of response: AttackedServer.Response) -> Int {
        let seconds = response.fields["retry-after"].flatMap { Int($0) }
        if !(seconds.map { (1...60).contains($0) } ?? false) { badDelays.withLock { $0 += 1 } }
        return max(1, min(60, seconds ?? 60))
    }

    private static func refreshToken(in response: AttackedServer.Response) throws -> String {
        guard let match = String(decoding: response.body, as: UTF8.self).firstMatch(of: /"refresh_token":"([^"]+)"/) else {
            throw AttackedServer.Failure(description: "no session: \(response.status)")
        }
        return String(match.1)
    }

    private static func tokens(_ count: Int, in folder: URL) async throws -> [String] {
        let mailbox = folder.appending(path: "data/mailbox")
        for _ in 0..<1_800 {
            let files = (try? FileManager.default.contentsOfDirectory(at: mailbox, includingPropertiesForKeys: nil)) ?? []
            let mails = files.filter { $0.pathExtension == "eml" }
            if mails.count >= count {
                return mails.compactMap { file in
                    // Quoted-printable: soft line breaks, and =3D for the equals sign.
                    let text = (try? String(contentsOf: file, encoding: .utf8))?.replacing("=\r\n", with: "").replacing(
                        "=\n",
                        with: ""
                    )
                    return text?.firstMatch(of: /token=(?:3D)?([A-Za-z0-9_\-]{43})/).map { String($0.1) }
                }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw AttackedServer.Failure(description: "the links did not come")
    }
}

/// A value that concurrent tasks change.
final class Guarded<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    var current: Value { value.withLock { $0 } }
    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}

/// Attempts at one rate, and calls of legitimate users at another.
private struct Load {
    enum Kind: String, CaseIterable, CustomStringConvertible {
        case refresh, confirm, health
        var description: String { rawValue }
    }

    struct Calls: Sendable {
        var tally = Tally()
        var milliseconds: [Double] = []
        var p99: Double { milliseconds.sorted().dropLast(milliseconds.count / 100).last ?? 0 }
    }

    struct Outcome: Sendable {
        var calls: [Kind: Calls] = [:]
        var attempts = Tally()
        var seconds = 0.0
    }

    private let stage: Stage
    private let attemptsPerSecond: Double
    private let seconds: Double

    init(_ stage: Stage, attemptsPerSecond: Double, seconds: Double) {
        (self.stage, self.attemptsPerSecond, self.seconds) = (stage, attemptsPerSecond, seconds)
    }

    func run() async throws -> Outcome {
        let begin = ContinuousClock.now
        let outcome = Guarded(Outcome(seconds: seconds))
        @Sendable func measured(_ kind: Kind, _ call: @Sendable () async throws -> AttackedServer.Response) async throws {
            let begin = ContinuousClock.now
            let status = try await call().status
            let milliseconds = (ContinuousClock.now - begin) / .milliseconds(1)
            outcome.withLock {
                $0.calls[kind, default: Calls()].tally.add(status)
                $0.calls[kind, default: Calls()].milliseconds.append(milliseconds)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in 0..<stage.sessionCount {
                group.addTask {
                    try await every(0.5, from: begin, shift: Double(session) / 40) { _ in
                        try await measured(.refresh) { try await stage.refresh(session: session) }
                    }
                }
            }
            group.addTask {
                try await every(0.25, from: begin) { _ in try await measured(.confirm) { try await stage.confirm() } }
            }
            group.addTask {
                try await every(0.05, from: begin) { number in try await measured(.health) { try await stage.health(number) } }
            }
            if attemptsPerSecond > 0 {
                group.addTask {
                    try await withThrowingDiscardingTaskGroup { attempts in
                        let count = Int(attemptsPerSecond * seconds)
                        for number in 0..<count {
                            try await Task.sleep(until: begin + .seconds(Double(number) / attemptsPerSecond), clock: .continuous)
                            attempts.addTask {
                                let status = try await stage.attempt(number)
                                // Calls that end afterwards do not count for the rate.
                                let isWithin = ContinuousClock.now - begin < .seconds(seconds)
                                if isWithin { outcome.withLock { $0.attempts.add(status) } }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return outcome.current
    }

    /// Makes calls one after another, each at its time if the previous one has ended.
    private func every(
        _ interval: Double,
        from begin: ContinuousClock.Instant,
        shift: Double = 0,
        _ call: (Int) async throws -> Void
    ) async throws {
        for number in 0..<Int(seconds / interval) {
            try await Task.sleep(until: begin + .seconds(Double(number) * interval + shift), clock: .continuous)
            try await call(number)
        }
    }
}
