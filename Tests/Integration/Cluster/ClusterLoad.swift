import AccountCore
import Foundation
import StrictJSON
import Synchronization
import Testing

/// Users of a cluster, who register, refresh their sessions and reset their passwords at any of its servers, and repeat calls that failed.
///
/// It records what was acknowledged to each user; ``verify()`` checks that none of it was lost.
final class ClusterLoad: Sendable {
    /// The result of a call.
    struct Reply {
        /// 0 if the connection broke.
        let status: Int
        let answer: RawHTTP.Answer?

        func text(_ member: String) -> String? { (try? answer?.json())?[member]?.stringValue }
    }

    /// A user, and the changes that the cluster has acknowledged.
    private struct Person {
        let email: String
        var password = "correct horse battery"
        var isRegistered = false
        /// The number of requests for a reset link.
        var requests = 0
        var isPromisedLink = false
        var isChanged = false
        var session: String?
    }

    private struct State {
        var people: [Person] = []
        var statuses: [Int: Int] = [:]
        /// The number of 503s, by the path.
        var refusals: [String: Int] = [:]
        var wrong: [String] = []
        var slowest = Duration.zero
        var lateRepeats = 0
        var isStopping = false
        /// The time at which users give up unfinished calls.
        var end: ContinuousClock.Instant?
    }

    private let urls: [URL]
    private let inbox: ClusterInbox
    private let state = Mutex(State())

    private init(_ cluster: Cluster) {
        (urls, inbox) = (cluster.urls, ClusterInbox(cluster.mails))
    }

    /// Runs users against a cluster while a closure runs, and then lets them finish.
    /// - Parameter lanes: The number of concurrent users.
    @discardableResult
    static func run(
        _ lanes: Int = rounds(0) > 0 ? 24 : 8,
        on cluster: Cluster,
        _ body: (ClusterLoad) async throws -> Void
    ) async throws -> ClusterLoad {
        let load = ClusterLoad(cluster)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes { group.addTask { await load.live(in: lane) } }
            do {
                try await body(load)
                load.stop(within: .seconds(90))
            } catch {
                load.stop(within: .zero)
                throw error
            }
        }
        return load
    }

    private func stop(within time: Duration) {
        state.withLock { ($0.isStopping, $0.end) = (true, .now.advanced(by: time)) }
    }

    // MARK: - What happened

    /// The number of calls that had a response.
    var responses: Int { state.withLock { $0.statuses.filter { $0.key != 0 }.values.reduce(0, +) } }

    /// Returns the number of calls with a status; 0 counts calls without a response.
    func responses(_ status: Int) -> Int { state.withLock { $0.statuses[status] ?? 0 } }

    /// The number of 503s of routes that hash no password. A busy machine refuses to hash when too many callers wait.
    var refusalsWithoutHashing: Int {
        let hashing: Set = ["/api/auth/register", "/api/auth/login", "/api/confirm-password-reset/"]
        return state.withLock { $0.refusals.filter { !hashing.contains($0.key) }.values.reduce(0, +) }
    }

    /// Responses that a correct cluster never gives.
    var wrong: [String] { state.withLock { $0.wrong } }

    /// The longest time that a call took.
    var slowest: Duration { state.withLock { $0.slowest } }

    /// Expects that all acknowledged changes have happened: accounts, changed passwords, promised emails.
    /// - Returns: The number of emails that were sent more often than requested.
    @discardableResult
    func verify() async throws -> Int {
        // On a busy machine, the users may have needed all of their time to finish their calls.
        let people = state.withLock { state in
            state.end = .now.advanced(by: .seconds(300))
            return state.people
        }
        var duplicates = 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, person) in people.filter(\.isRegistered).enumerated() {
                if number >= 8 { try await group.next() }
                group.addTask { try await self.verify(person) }
            }
            try await group.waitForAll()
        }
        for person in people {
            let mails = try await inbox.mails(to: person.email)
            duplicates += max(0, mails.resets.count - person.requests) + max(0, mails.updates - (person.isChanged ? 1 : 0))
        }
        #expect(wrong.isEmpty)
        #expect(people.contains { $0.isChanged })
        return duplicates
    }

    private func verify(_ person: Person) async throws {
        do {
            try await eventually {
                let mails = try await inbox.mails(to: person.email)
                return (!person.isPromisedLink || !mails.resets.isEmpty) && (!person.isChanged || mails.updates > 0)
            }
        } catch {
            Issue.record("an email is lost: \(person), \(try await inbox.mails(to: person.email))")
        }
        let body = #"{"email":"\#(person.email)","password":"\#(person.password)"}"#
        let signIn = await insist("/api/auth/login", body)?.reply
        #expect(signIn?.status == 200, "\(person.email) can't sign in")
        if let session = person.session {
            let refresh = await insist("/api/auth/refresh", #"{"refresh_token":"\#(session)"}"#)
            if let refresh, isLateRepeat(refresh.reply, refresh.calls, refresh.time) { return }
            #expect(refresh?.reply.status == 200, "the session of \(person.email) is lost")
        }
    }

    /// Counts of users and responses, for a log.
    var summary: String {
        let (people, statuses, refusals, lateRepeats) = state.withLock { ($0.people, $0.statuses, $0.refusals, $0.lateRepeats) }
        let counts = statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
        return "\(people.count) users, \(people.count(where: \.isPromisedLink)) links promised, "
            + "\(people.count(where: \.isChanged)) passwords changed, \(lateRepeats) refreshes repeated too late; "
            + "calls: \(counts); refusals: \(refusals); slowest \(slowest)"
    }

    // MARK: - Calls

    /// Calls one of the servers.
    func call(_ path: String, _ body: String) async -> Reply {
        let url = urls[Int.random(in: 0..<urls.count)]
        let (begin, json) = (ContinuousClock.now, ["Content-Type: application/json"])
        let answer = try? await RawHTTP.send("POST", path, to: url, headers: json, body: Array(body.utf8))
        // The server died while it sent its response.
        let isWhole = answer.map { Int($0["Content-Length"] ?? "") ?? 0 <= $0.body.count } ?? false
        let reply = Reply(status: isWhole ? answer?.status ?? 0 : 0, answer: answer)
        state.withLock { state in
            state.statuses[reply.status, default: 0] += 1
            state.slowest = max(state.slowest, ContinuousClock.now - begin)
            guard reply.status >= 500 else { return }
            if reply.status == 503 { state.refusals[path, default: 0] += 1 }
            // 504 means that a commit could not be confirmed.
            guard [503, 504].contains(reply.status), reply.answer?["Retry-After"] != nil, reply.answer?["X-Error-Code"] != nil
            else {
                return state.wrong.append("\(path): \(reply.status) \(reply.answer?.text ?? "")")
            }
        }
        return reply
    }

    /// Repeats a call until the cluster has decided.
    /// - Returns: The reply, the number of calls, and the time from the first call to the last; `nil` if there was no reply until
    /// the end.
    private func insist(_ path: String, _ body: String) async -> (reply: Reply, calls: Int, time: Duration)? {
        let begin = ContinuousClock.now
        var calls = 0
        while true {
            calls += 1
            let reply = await call(path, body)
            if ![0, 503, 504].contains(reply.status) { return (reply, calls, ContinuousClock.now - begin) }
            if isPastEnd { return nil }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 20...150)))
        }
    }

    private var isPastEnd: Bool { state.withLock { $0.end.map { $0 < .now } ?? false } }

    private func complain(_ reply: Reply, _ what: String) {
        state.withLock { $0.wrong.append("\(what): \(reply.status) \(reply.answer?.text ?? "")") }
    }

    // MARK: - Users

    private func live(in lane: Int) async {
        var number = 0
        while !state.withLock({ $0.isStopping }) {
            var person = Person(email: "l\(lane)n\(number)@example.com")
            await live(as: &person)
            state.withLock { $0.people.append(person) }
            number += 1
        }
    }

    private func live(as person: inout Person) async {
        guard await register(&person), await refresh(&person), let token = await resetToken(of: &person) else { return }
        await change(&person, token)
    }

    private func register(_ person: inout Person) async -> Bool {
        let credentials = #""email":"\#(person.email)","password":"\#(person.password)""#
        guard let (reply, calls, _) = await insist("/api/auth/register", "{\(credentials),\"first_name\":\"Ana\"}") else {
            return false
        }
        switch reply.status {
        case 201: person.session = reply.text("refresh_token")
        case 400 where calls > 1 && reply.answer?["X-Error-Code"] == "AUTH_EMAIL_EXISTS":
            // An earlier call has registered the account, but its response was lost.
            guard let (login, _, _) = await insist("/api/auth/login", "{\(credentials)}") else { return false }
            guard login.status == 200 else {
                complain(login, "\(person.email) signs in after a lost registration")
                return false
            }
            person.session = login.text("refresh_token")
        default:
            complain(reply, "\(person.email) registers with call \(calls)")
            return false
        }
        person.isRegistered = true
        return true
    }

    private func refresh(_ person: inout Person) async -> Bool {
        for _ in 0..<3 {
            guard let session = person.session else { return false }
            // A user whose response was lost still has the old token.
            guard let (reply, calls, time) = await insist("/api/auth/refresh", #"{"refresh_token":"\#(session)"}"#) else {
                return false
            }
            if isLateRepeat(reply, calls, time) {
                person.session = nil
                return true
            }
            guard reply.status == 200 else {
                complain(reply, "\(person.email) refreshes with call \(calls)")
                person.session = nil
                return false
            }
            person.session = reply.text("refresh_token")
        }
        return true
    }

    /// Returns whether a refresh was refused because it was repeated too late, and counts it. An earlier call has rotated the token, and
    /// the outage was longer than the window in which the token may be used again.
    private func isLateRepeat(_ reply: Reply, _ calls: Int, _ time: Duration) -> Bool {
        guard reply.status == 401, calls > 1, time > SessionRules().repeatWindow else { return false }
        state.withLock { $0.lateRepeats += 1 }
        return true
    }

    private func resetToken(of person: inout Person) async -> String? {
        guard let (reply, calls, _) = await insist("/api/request-password-reset/", #"{"email":"\#(person.email)"}"#) else {
            return nil
        }
        person.requests = calls
        guard reply.status == 200 else {
            complain(reply, "\(person.email) asks for a link")
            return nil
        }
        person.isPromisedLink = true
        while !isPastEnd {
            if let token = try? await inbox.mails(to: person.email).resets.first { return token }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }

    private func change(_ person: inout Person, _ token: String) async {
        let password = "another horse battery"
        // The confirm ends the session, even if its response is lost.
        let session = person.session
        person.session = nil
        let confirm = #"{"token":"\#(token)","new_password":"\#(password)"}"#
        guard let (reply, calls, _) = await insist("/api/confirm-password-reset/", confirm) else {
            // The confirm may or may not have changed the password.
            person.isRegistered = false
            return
        }
        // An earlier call has changed the password, but its response was lost.
        let isRepeated = calls > 1 && reply.answer?["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID"
        guard reply.status == 200 || isRepeated else { return complain(reply, "\(person.email) confirms with call \(calls)") }
        (person.password, person.isChanged) = (password, true)
        guard let session, let (after, _, _) = await insist("/api/auth/refresh", #"{"refresh_token":"\#(session)"}"#) else {
            return
        }
        if after.status != 401 { complain(after, "\(person.email): a session of the old password lives") }
    }
}
