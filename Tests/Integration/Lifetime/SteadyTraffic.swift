import Email
import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Users of a server hour by hour: six accounts with a device each, and visitors without an account.
struct SteadyTraffic {
    /// A user with an account, and the app on a device.
    struct Person {
        let email: String
        var password: String
        /// The device's refresh token, while it is signed in.
        var device: String?
        var links: [String] = []
        var freezeLinks: [String] = []
    }

    private(set) var people: [Person] = []
    /// The number of responses by operation and status, such as "confirm 200".
    private(set) var answers: [String: Int] = [:]
    private let simulated: SimulatedServer
    private var turn = 0
    private var strangers = 0

    init(_ simulated: SimulatedServer) async throws {
        self.simulated = simulated
        for number in 0..<6 {
            people.append(Person(email: "person\(number)@example.com", password: "the first password"))
            let text = try await send("register", "/api/auth/register", json(number, ["first_name": "Ana"]))
            people[number].device = token("refresh_token", in: text)
        }
    }

    /// Simulates an hour, in steps of five minutes.
    /// - Parameter outage: The steps in which the mailbox is not writable.
    mutating func liveAnHour(outage: Range<Int>) async throws {
        for step in 0..<12 {
            try setMailbox(isThere: !outage.contains(step))
            if step % 4 == 3 { try await useDevices() }
            switch step {
            case 0: try await visit(staysSignedIn: false)
            case 1: try await askForLink()
            case 3: if turn % 2 == 0 { try await flood() }
            case 5: try await guess()
            case 10: try await confirm()
            case 11: if turn % 6 == 4 { try await lock() }
            default: break
            }
            await simulated.advance(minutes: 5)
            try readMails()
        }
        turn += 1
    }

    /// Simulates a day in few steps: an abandoned device, a reset, two refreshes. One of the six accounts
    /// never resets its password: its device continues until the session reaches its maximum age.
    mutating func liveADay() async throws {
        try await visit(staysSignedIn: true)
        if turn % 6 != 5 { try await askForLink() }
        await simulated.advance(minutes: 30)
        try readMails()
        if turn % 6 != 5 { try await confirm() }
        for minutes in [690, 720] {
            try await useDevices()
            await simulated.advance(minutes: minutes)
        }
        turn += 1
    }

    /// Every device refreshes its session, or signs in if the session has ended.
    private mutating func useDevices() async throws {
        for number in people.indices {
            guard let device = people[number].device else {
                let text = try await send("sign in", "/api/auth/login", json(number))
                people[number].device = token("refresh_token", in: text)
                continue
            }
            let text = try await send("refresh", "/api/auth/refresh", #"{"refresh_token":"\#(device)"}"#)
            people[number].device = token("refresh_token", in: text)
        }
    }

    /// Signs in a user on another device.
    private mutating func visit(staysSignedIn: Bool) async throws {
        let text = try await send("sign in", "/api/auth/login", json(turn % 6))
        guard let access = token("access_token", in: text), let refresh = token("refresh_token", in: text) else { return }
        let me = try await simulated.memory.send(.get, "/api/auth/me", headers: ["Authorization": "Bearer \(access)"])
        note("me", me.status)
        guard !staysSignedIn else { return }
        _ = try await send("sign out", "/api/auth/logout", #"{"refresh_token":"\#(refresh)"}"#)
    }

    /// Requests a link for an account and one for an unknown address, repeats each with its key, and sends other input with the
    /// key.
    private mutating func askForLink() async throws {
        for email in [people[turn % 6].email, "stranger\(turn)@example.com"] {
            let key = UUID().uuidString
            for (what, body) in [("ask", email), ("repeat", email), ("reuse", "x" + email)] {
                let json = #"{"email":"\#(body)"}"#
                _ = try await send(what, "/api/request-password-reset/", json, ["Idempotency-Key": key])
            }
        }
    }

    /// Sends more reset requests than a client may in a minute.
    private mutating func flood() async throws {
        for _ in 0..<22 {
            strangers += 1
            _ = try await send("flood", "/api/request-password-reset/", #"{"email":"nobody\#(strangers)@example.com"}"#)
        }
    }

    private mutating func guess() async throws {
        for _ in 0..<3 {
            let body = #"{"email":"\#(people[turn % 6].email)","password":"a wrong password"}"#
            _ = try await send("guess", "/api/auth/login", body)
        }
    }

    /// Sets a password by the newest link. The one before it is invalid by then.
    private mutating func confirm() async throws {
        let number = turn % 6
        for link in people[number].links.suffix(2).reversed() {
            let password = "the password of turn \(turn)"
            let body = #"{"token":"\#(link)","new_password":"\#(password)"}"#
            let text = try await send("confirm", "/api/confirm-password-reset/", body)
            guard text.contains(#""success":true"#) else { continue }
            people[number].password = password
            people[number].device = nil
        }
    }

    private mutating func lock() async throws {
        guard let link = people[turn % 6].freezeLinks.last else { return }
        let form = "application/x-www-form-urlencoded"
        let answer = try await simulated.memory.send(.post, "/reset-password/not-me", "token=\(link)", type: form)
        note("freeze", answer.status)
        people[turn % 6].device = nil
    }

    private mutating func readMails() throws {
        let mailbox = simulated.server.accounts.mailbox
        guard FileManager.default.fileExists(atPath: mailbox.directory.path) else { return }
        for mail in try mailbox.mails(limit: 1_000).reversed() {
            let owner = try #require(people.firstIndex { $0.email == mail.recipient })
            let link = try #require(mail.link?.absoluteString)
            let token = try #require(link.split(separator: "token=").last?.prefix(43)).description
            if link.contains("not-me") { people[owner].freezeLinks.append(token) } else { people[owner].links.append(token) }
            note("mail", link.contains("not-me") ? 1 : 0)
            try FileManager.default.removeItem(at: mailbox.directory.appending(path: "\(mail.id).eml"))
        }
    }

    private func setMailbox(isThere: Bool) throws {
        let here = simulated.server.accounts.mailbox.directory
        let away = here.deletingLastPathComponent().appending(path: "mailbox-away")
        guard FileManager.default.fileExists(atPath: here.path) != isThere else { return }
        try FileManager.default.moveItem(at: isThere ? away : here, to: isThere ? here : away)
    }

    private mutating func send(_ what: String, _ path: String, _ body: String, _ headers: [String: String] = [:]) async throws
        -> String
    {
        let answer = try await simulated.memory.send(.post, path, body, headers: headers)
        note(what, answer.status)
        return answer.text
    }

    private mutating func note(_ what: String, _ status: Int) { answers["\(what) \(status)", default: 0] += 1 }

    private func json(_ number: Int, _ more: [String: String] = [:]) -> String {
        let members = ["email": people[number].email, "password": people[number].password].merging(more) { $1 }
        return "{" + members.map { #""\#($0)":"\#($1)""# }.joined(separator: ",") + "}"
    }

    private func token(_ name: String, in text: String) -> String? {
        (try? JSONBody(Array(text.utf8)))?[name]?.stringValue
    }
}
