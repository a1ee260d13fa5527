import AccountContract
import AccountCore
import Foundation

extension AccountStoreCheck {
    /// Checks of `SessionStore`: opening a session, rotation of refresh tokens, repeated requests, detection of reuse (RFC 9700 §4.14.2),
    /// expiry, and the sweep of expired data.
    ///
    /// The checks use the default `SessionRules`: a session ends after 30 days without a refresh, and 90 days after the sign-in. A second
    /// use of a token within 10 s of the first use counts as a repeated request, and not as reuse.
    public static let sessions = sessionBegins + rotations + repeats + sessionEnds + sessionLists + sessionSweeps

    /// A day in seconds.
    private static let day: TimeInterval = 86_400

    /// Creates checks whose descriptions begin with `sessions:`.
    private static let check = CheckBuilder(store: "sessions")

    /// Returns a check that begins with an open session of a new account.
    /// - Parameters:
    ///   - rule: The rule as a sentence in the present tense.
    ///   - body: The steps of the check, which receive the session.
    private static func withSession(
        _ rule: String,
        _ body: @escaping @Sendable (OpenedSession) async throws -> Void
    ) -> AccountStoreCheck {
        check(rule) { stores in try await body(try await OpenedSession(stores, account: try await stores.addAccount())) }
    }

    /// Checks that a session opens only for an active account. The account must also still have the epoch that it had when the caller
    /// verified the password. The epoch is a counter that changes, for example, with each new password.
    ///
    /// The store must compare state and epoch in the statement that inserts the session. If a store checks them in a separate statement, a
    /// password reset can commit between the check and the insert. A user of the old password would then get a session. If the store
    /// refuses the session, the refresh token of the session must not be valid.
    private static let sessionBegins: [AccountStoreCheck] = [
        check.withAccount("Opens a session only in the epoch of the caller, and only for an active account") { stores, account in
            let suspended = try await stores.addAccount("eve@example.com", state: .suspended)
            let unknown = try Account.sample("nobody@example.com")
            let deleted = try await stores.addAccount("deleted@example.com")
            _ = try await stores.records.change(deleted.id, at: .after(0)) { $0.account.purgeAt = .after(1_000) }
            for (owner, epoch, opens) in [
                (account, 0, true), (account, 1, false), (account, -1, false), (suspended, 0, false), (deleted, 0, false),
                (unknown, 0, false),
            ] {
                let session = StoredSession(id: .init(rawValue: UUID()), accountID: owner.id, createdAt: .after(0))
                let token = SecretToken().digest
                let isOpen = try await stores.sessions.open(session, refresh: token, epoch: epoch)
                let who = "(\(owner.email.text), epoch \(epoch))"
                try require(isOpen, equals: opens, "What open returns \(who)")
                try require(try await stores.sessions.isAlive(session.id), equals: opens, "Whether the session is alive \(who)")
                let used = try await stores.sessions.use(token, after: 1).outcome
                try require(used, equals: opens ? .rotated(session) : .refused, "The use of its token \(who)")
            }
        }
    ]

    /// Checks of the rotation of tokens and of the two limits: 30 days without a refresh, and 90 days since the sign-in.
    ///
    /// A session whose age exactly equals a limit can still be refreshed. The first use of an expired session returns `expired` and ends
    /// the session; later uses return `refused`. The reuse of a token ends only the session of this token, and not the sessions of other
    /// devices.
    private static let rotations: [AccountStoreCheck] =
        [
            withSession("Returns the next token for a token, repeatedly") { opened in
                var token = opened.first
                for step in 1...20 {
                    let (outcome, next) = try await opened.use(token, after: TimeInterval(step) * 100)
                    try require(outcome, equals: .rotated(opened.session), "The outcome of step \(step)")
                    token = next
                }
                try require(await opened.isAlive, "The session is alive")
            },
            withSession("Refuses an unknown token, and changes nothing") { opened in
                let unknown = try await opened.use(SecretToken().digest, after: 1).outcome
                try require(unknown, equals: .refused, "The outcome of an unknown token")
                try require(await opened.isAlive, "The session is alive")
                let known = try await opened.use(opened.first, after: 2).outcome
                try require(known, equals: .rotated(opened.session), "The outcome of the known token")
            },
            check.withAccount("Keeps the sessions of other devices when one ends") { stores, account in
                let phone = try await OpenedSession(stores, account: account)
                let tablet = try await OpenedSession(stores, account: account)
                _ = try await phone.use(phone.first, after: 1)
                let again = try await phone.use(phone.first, after: 100).outcome
                try require(again, equals: .reused(phone.session), "The second use of the phone's token")
                try require(await tablet.isAlive, "The tablet's session is alive")
                let used = try await tablet.use(tablet.first, after: 101).outcome
                try require(used, equals: .rotated(tablet.session), "The use of the tablet's token")
            },
            withSession("Refuses a session that expired after 90 days, however often it was refreshed") { opened in
                var token = opened.first
                for days in [29.0, 58, 87, 90] {
                    let (outcome, next) = try await opened.use(token, after: days * day)
                    try require(outcome, equals: .rotated(opened.session), "The outcome on day \(days)")
                    token = next
                }
                let late = try await opened.use(token, after: 90 * day + 1).outcome
                try require(late, equals: .expired, "The outcome after 90 days")
                try require(await !opened.isAlive, "The session has ended")
            },
        ]
        + [(30.0, true), (30.001, false), (365, false)].map { days, goesOn in
            withSession("\(goesOn ? "Accepts" : "Refuses") a token after \(days) idle days") { opened in
                let (outcome, next) = try await opened.use(opened.first, after: days * day)
                try require(outcome, equals: goesOn ? .rotated(opened.session) : .expired, "The outcome")
                try require(try await opened.isAlive, equals: goesOn, "Whether the session is alive")
                let again = try await opened.use(goesOn ? next : opened.first, after: days * day + 1).outcome
                try require(again, equals: goesOn ? .rotated(opened.session) : .refused, "The outcome of the next use")
            }
        }

    /// Checks of a second use of a token.
    ///
    /// Each refresh replaces the token by a new token, its *successor*. If a client doesn't receive the response to a refresh, it sends the
    /// same token again. The store therefore accepts a second use within 10 s of the first use, unless a successor was already used. The
    /// store has only digests of tokens, so the server can't send the first successor again. Instead, the server sends another successor,
    /// and the store accepts it. Both successors are valid until a client uses one of them. This use shows which successor the client has
    /// received. If another successor is used later, a thief has a copy of the token, and the store ends the session.
    ///
    /// Common causes of failures:
    /// - *Ends the session on an early repeat if a successor was used*: the store compares only the time, not the use of the successors.
    /// - *Measures the repeat window from the first use*: the store measures the 10 s from the latest use. A thief could then use an old
    ///   token forever.
    /// - *Treats concurrent uses of a token as repeats*: two transactions read the token as unused. The store must lock the session first.
    /// - *Accepts the last of five successors*: when a client uses one successor, the store doesn't invalidate the other successors of the
    ///   same token.
    private static let repeats: [AccountStoreCheck] =
        [
            withSession("Ends the session on an early repeat if a successor was used") { opened in
                let second = try await opened.use(opened.first, after: 100).next
                let third = try await opened.use(second, after: 102).next
                let again = try await opened.use(opened.first, after: 103).outcome
                try require(again, equals: .reused(opened.session), "The outcome of the repeat")
                try require(try await opened.use(third, after: 104).outcome, equals: .refused, "The outcome of the newest token")
            },
            withSession("Measures the repeat window from the first use, not from the last repeat") { opened in
                for seconds in [100.0, 104, 108] {
                    let outcome = try await opened.use(opened.first, after: seconds).outcome
                    try require(outcome, equals: .rotated(opened.session), "The outcome after \(seconds) s")
                }
                let late = try await opened.use(opened.first, after: 111).outcome
                try require(late, equals: .reused(opened.session), "The outcome after 111 s")
                try require(await !opened.isAlive, "The session has ended")
            },
            check("Treats concurrent uses of a token as repeats, and accepts one successor") { stores in
                let opened = try await OpenedSession(stores, account: try await stores.addAccount())
                let results = try await concurrently(20) { number in
                    let next = SecretToken().digest
                    let store = stores.either(number).sessions
                    return (try await store.rotate(opened.first, to: next, at: .after(100), rules: opened.rules), next)
                }
                try require(results.count { $0.0 == .rotated(opened.session) }, equals: 20, "The number of accepted uses")
                let used = try await opened.use(results[0].1, after: 101).outcome
                try require(used, equals: .rotated(opened.session), "The use of one successor")
                let killed = try await opened.use(results[1].1, after: 102).outcome
                try require(killed, equals: .reused(opened.session), "The use of another successor")
                try require(await !opened.isAlive, "The session has ended")
            },
        ]
        + [(10.0, true), (10.5, false), (86_400, false)].map { later, isRepeat in
            withSession("\(isRepeat ? "Accepts" : "Ends the session on") a second use after \(later) s") { opened in
                let next = try await opened.use(opened.first, after: 100).next
                let again = try await opened.use(opened.first, after: 100 + later).outcome
                try require(again, equals: isRepeat ? .rotated(opened.session) : .reused(opened.session), "The second use")
                try require(try await opened.isAlive, equals: isRepeat, "Whether the session is alive")
                let afterwards = try await opened.use(next, after: 100 + later).outcome
                try require(afterwards, equals: isRepeat ? .rotated(opened.session) : .refused, "The use of the successor")
            }
        }
        + [0, 1].map { used in
            withSession("Accepts the \(used == 0 ? "first" : "second") of two successors after a repeat, and then not the other")
            {
                opened in
                let lost = try await opened.use(opened.first, after: 100).next
                let (outcome, sibling) = try await opened.use(opened.first, after: 105)
                try require(outcome, equals: .rotated(opened.session), "The repeat")
                let (first, successor) = try await opened.use([lost, sibling][used], after: 106)
                try require(first, equals: .rotated(opened.session), "The use of one of them")
                try require(await opened.isAlive, "The session is alive")
                let second = try await opened.use([lost, sibling][1 - used], after: 107).outcome
                try require(second, equals: .reused(opened.session), "The use of the other")
                try require(await !opened.isAlive, "The session has ended")
                try require(try await opened.use(successor, after: 108).outcome, equals: .refused, "The use of the newest token")
            }
        }
        + (0..<4).map { killed in
            withSession("Accepts the last of five successors, and then refuses number \(killed + 1)") { opened in
                var siblings: [TokenDigest] = []
                for _ in 0..<5 { siblings.append(try await opened.use(opened.first, after: 100).next) }
                let used = try await opened.use(siblings[4], after: 101).outcome
                try require(used, equals: .rotated(opened.session), "The use of the last")
                let other = try await opened.use(siblings[killed], after: 102).outcome
                try require(other, equals: .reused(opened.session), "The use of another")
                try require(await !opened.isAlive, "The session has ended")
            }
        }

    /// Checks that a sign-out with any token of a session ends the session, even if the token was used before.
    ///
    /// If the response to a refresh was lost, the client signs out with an old token. A store that compares only the current token would
    /// leave this session open. A second call, or a call with an unknown token, must not throw an error.
    private static let sessionEnds: [AccountStoreCheck] = [
        withSession("Ends a session by its token, even twice") { opened in
            try require(await opened.isAlive, "The session is alive")
            try await opened.stores.sessions.end(refresh: opened.first)
            try require(await !opened.isAlive, "The session has ended")
            try require(try await opened.use(opened.first, after: 1).outcome, equals: .refused, "The use of its token")
            try await opened.stores.sessions.end(refresh: opened.first)
        },
        withSession("Ends a session by a used token, with all successors") { opened in
            let second = try await opened.use(opened.first, after: 1).next
            let third = try await opened.use(second, after: 2).next
            try await opened.stores.sessions.end(refresh: opened.first)
            try require(await !opened.isAlive, "The session has ended")
            try require(try await opened.use(third, after: 3).outcome, equals: .refused, "The use of the newest token")
        },
        withSession("Ends nothing by an unknown token") { opened in
            try await opened.stores.sessions.end(refresh: SecretToken().digest)
            try require(await opened.isAlive, "The session is alive")
            let unknown = try await opened.stores.sessions.isAlive(.init(rawValue: UUID()))
            try require(!unknown, "A session that was never opened is not alive")
        },
    ]

    /// Checks of the list of an account's sessions, and of the calls that end sessions by their ids. A user can end only sessions of the
    /// user's own account.
    private static let sessionLists: [AccountStoreCheck] = [
        check("Lists the sessions of an account with their devices, newest use first") { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            try require(try await stores.sessions.sessions(of: ana.id, limit: .max), equals: [], "The sessions")
            let names = ["Ana's iPhone", nil, "日本語 \";--"]
            var opened: [(session: StoredSession, token: TokenDigest)] = []
            for (number, name) in names.enumerated() {
                let session = StoredSession(
                    id: .init(rawValue: UUID()),
                    accountID: ana.id,
                    createdAt: .after(TimeInterval(number)),
                    deviceName: name
                )
                let token = SecretToken().digest
                try require(await stores.sessions.open(session, refresh: token, epoch: 0), "The session opens")
                opened.append((session, token))
            }
            _ = try await OpenedSession(stores, account: ben)
            let outcome = try await stores.sessions.use(opened[0].token, after: 50).outcome
            try require(outcome, equals: .rotated(opened[0].session), "The refresh")
            let expected = [(0, 50.0), (2, 2), (1, 1)].map { SessionUse(session: opened[$0].session, lastUsedAt: .after($1)) }
            try require(try await stores.others.sessions.sessions(of: ana.id, limit: .max), equals: expected, "The sessions")
            let newest = try await stores.sessions.sessions(of: ana.id, limit: 2)
            try require(newest, equals: Array(expected.prefix(2)), "The sessions at a limit of 2")
        },
        check("Ends a session by its id, only of its account and only once") { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            let sessions = [try await OpenedSession(stores, account: ana), try await OpenedSession(stores, account: ana)]
            let id = sessions[0].session.id
            try require(await !stores.sessions.end(id, of: ben.id), "end returns false for another account")
            try require(await sessions[0].isAlive, "The session is alive")
            try require(await stores.sessions.end(id, of: ana.id), "end returns true")
            try require(await !sessions[0].isAlive, "The session has ended")
            try require(try await sessions[0].use(sessions[0].first, after: 1).outcome, equals: .refused, "The use of its token")
            try require(await sessions[1].isAlive, "Another session of the account continues")
            try require(await !stores.sessions.end(id, of: ana.id), "A second end returns false")
        },
        check("Ends all sessions of an account except one") { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            let sessions = [
                try await OpenedSession(stores, account: ana), try await OpenedSession(stores, account: ana),
                try await OpenedSession(stores, account: ana), try await OpenedSession(stores, account: ben),
            ]
            try await stores.sessions.endAll(of: ana.id, except: sessions[1].session.id)
            for (session, isAlive) in zip(sessions, [false, true, false, true]) {
                try require(try await session.isAlive, equals: isAlive, "Whether the session is alive")
                let outcome = try await session.use(session.first, after: 1).outcome
                try require(outcome == .refused, equals: !isAlive, "Whether a refresh is refused")
            }
        },
    ]

    /// Checks that a sweep removes expired sessions a week after their expiry, and used tokens 30 days after their use. The sweep must not
    /// remove anything that a client can still use.
    ///
    /// During the week after the expiry, the server can still report to a client that its session has expired. A sweep removes data in
    /// batches. `sweep` returns `true` if there is more to remove, so the checks call `sweep` until it returns `false`.
    ///
    /// Common causes of failures:
    /// - *Sweeps sessions a week after their expiry*: the store measures the idle time from the sign-in instead of the last refresh.
    /// - *Sweeps tokens whose use exceeds the idle limit*: the store removes all tokens of a session, or never removes used tokens, so that
    ///   the table grows with each refresh.
    private static let sessionSweeps: [AccountStoreCheck] = [
        check.withAccount("Sweeps sessions a week after their expiry, and no others") { stores, account in
            let old = try await OpenedSession(stores, account: account)
            let refreshed = try await OpenedSession(stores, account: account)
            let next = try await refreshed.use(refreshed.first, after: 20 * day).next
            while try await stores.sessions.sweep(at: .after(37 * day), rules: old.rules) {}
            try require(await old.isAlive, "A session that expired exactly a week ago is stored")
            while try await stores.sessions.sweep(at: .after(37 * day + 1), rules: old.rules) {}
            try require(await !old.isAlive, "A session that expired more than a week ago is removed")
            try require(await refreshed.isAlive, "A session that was refreshed is alive")
            try require(
                try await refreshed.use(next, after: 38 * day).outcome,
                equals: .rotated(refreshed.session),
                "The use of the refreshed session's token"
            )
        },
        withSession("Sweeps tokens whose use exceeds the idle limit, and keeps their session") { opened in
            var token = opened.first
            for days in 1...40 {
                let lost = try await opened.use(token, after: TimeInterval(days) * day).next
                let sibling = try await opened.use(token, after: TimeInterval(days) * day + 1).next
                try require(lost != sibling, "The two successors differ")
                token = sibling
            }
            while try await opened.stores.sessions.sweep(at: .after(40 * day), rules: opened.rules) {}
            let first = try await opened.use(opened.first, after: 40 * day + 2).outcome
            try require(first, equals: .refused, "The use of a token that was swept")
            try require(await opened.isAlive, "The session is alive")
            let newest = try await opened.use(token, after: 40 * day + 3).outcome
            try require(newest, equals: .rotated(opened.session), "The use of the newest token")
        },
    ]
}
