import AccountContract
import AccountCore
import ErrorContract
import Foundation
import RateLimiting

extension AccountStoreCheck {
    /// Checks of `MailIntentQueue` and `MailQueueInspection`: how workers claim emails, how leases end, the order of reset requests, and
    /// the tools of an operator. An intent (`MailIntent`) is an entry of the queue: an email that the server must send.
    ///
    /// The checks pass all times as arguments. A store must use these times, and never the clock of the database. The checks use times in
    /// the past, so a store that uses the current time would treat each lease as expired.
    public static let intents = claims + leases + turns + inspections

    /// Creates checks whose descriptions begin with `intents:`.
    private static let check = CheckBuilder(store: "intents")
    /// Creates checks whose descriptions begin with `sentResets:`.
    private static let sentCheck = CheckBuilder(store: "sentResets")
    /// Creates checks whose descriptions begin with `audit:`.
    private static let auditCheck = CheckBuilder(store: "audit")

    /// Returns an intent to send the email of a password reset to `Ana<number>@example.com`. The intent has no client network.
    /// - Parameters:
    ///   - number: The number in the address. Checks use different numbers to distinguish intents.
    ///   - seconds: The creation time of the intent, in seconds after the fixed start time of the checks.
    private static func intent(_ number: Int = 0, after seconds: TimeInterval = 0) throws -> MailIntent {
        MailIntent(
            subject: .passwordReset(try EmailAddress("Ana\(number)@example.com")),
            language: Language("es-MX"),
            createdAt: .after(seconds)
        )
    }

    /// Returns an intent to send the email of a password reset that a client in a given network requested.
    /// - Parameters:
    ///   - network: The network of the client; `nil` if it is unknown.
    ///   - number: The number in the address. The creation time is this number divided by 1,024, in seconds. These times are exact in
    ///     binary and almost a millisecond apart. So a store that rounds times to microseconds still returns the intents in the right
    ///     order.
    private static func intent(_ network: String?, _ number: Int) throws -> MailIntent {
        MailIntent(
            subject: .passwordReset(try EmailAddress("a\(number)@example.com")),
            language: .english,
            createdAt: .after(Double(number) / 1_024),
            origin: AuditOrigin(client: network, requestID: nil)
        )
    }

    /// Checks of `claim`. The store must return intents unchanged, the oldest first, and at most as many as requested. Two concurrent
    /// workers must never receive the same intent.
    ///
    /// Common causes of failures:
    /// - *Returns intents as they were added*: the store stores only the normalized address, or doesn't store the `origin` of the intent.
    /// - *Gives each of a hundred intents to one of forty concurrent workers*: the store selects and updates in two statements without a
    ///   lock. In PostgreSQL, use `for update skip locked`; in SQLite, use one writing transaction.
    /// - *Returns a request from a clock that was ahead without delay*: the store treats the creation time as the due time. A new intent is
    ///   due immediately, even if its creation time is in the future.
    /// - *Removes a settled intent, and only it*: the store identifies an intent by its contents instead of its id.
    /// - *Returns the time of the oldest intent that is due*: the store includes claimed or abandoned intents. The server reports the delay
    ///   of emails by this time, so only intents that a worker could send now may count.
    private static let claims: [AccountStoreCheck] = [
        check("Returns intents as they were added, with the typed address") { stores in
            let reset = try intent()
            let changed = MailIntent(
                subject: .passwordChanged(.init(rawValue: UUID())),
                language: .english,
                createdAt: .after(1),
                origin: AuditOrigin(client: "198.51.100.0/24", requestID: "id-1")
            )
            try await stores.intents.enqueue(reset)
            try await stores.intents.enqueue(changed)
            let taken = try await stores.intents.claim(10, after: 1, until: 100)
            try require(taken, equals: [reset, changed], "The intents")
            guard case .passwordReset(let address) = taken.first?.subject else { return }
            try require(address.text, equals: "Ana0@example.com", "The address")
        },
        check("Returns intents of every kind as they were added, and without resets only those of accounts") { stores in
            let (email, id) = (try EmailAddress("Ana@example.com"), Account.ID(rawValue: UUID()))
            let subjects: [MailIntent.Subject] = [
                .passwordReset(email), .passwordChanged(id), .registration(email, try FirstName(stored: "Ana 🐦")),
                .verification(email), .emailChange(id, to: email), .emailChanged(id, from: email), .accountDeleted(id),
                .formerAccountDeleted(id, email), .newDevice(id, family: "Firefox on \"Linux\""),
            ]
            try require(Set(subjects.map(\.kind)), equals: Set(MailIntent.Subject.kinds), "The kinds")
            let intents = subjects.enumerated().map { number, subject in
                MailIntent(subject: subject, language: .english, createdAt: .after(TimeInterval(number)))
            }
            for intent in intents { try await stores.intents.enqueue(intent) }
            let ofAccounts = try await stores.intents.claim(
                limit: 20,
                at: .after(20),
                leaseEnd: .after(100),
                includesResets: false
            )
            try require(ofAccounts, equals: intents.filter { !$0.subject.isAnonymous }, "The intents of accounts")
            let others = try await stores.intents.claim(20, after: 20, until: 100)
            try require(others, equals: intents.filter(\.subject.isAnonymous), "The other intents")
            let retried = intents.filter(\.subject.isAnonymous)
            for intent in retried {
                try await stores.intents.postpone(intent, leaseEnd: .after(100), until: .after(30), reason: "busy")
            }
            let none = try await stores.intents.claim(20, after: 40, until: 200, includesResets: false)
            try require(none, equals: [], "The intents without resets")
            let kinds = try await stores.intents.mails(limit: 20).map(\.kind)
            try require(kinds, equals: subjects.map(\.kind), "The kinds of all emails")
        },
        check("Returns the oldest first, and at most as many as requested") { stores in
            for number in [4, 1, 3, 0, 2] { try await stores.intents.enqueue(try intent(number, after: TimeInterval(number))) }
            var taken: [TimeInterval] = []
            for expected in [2, 2, 1, 0] {
                let batch = try await stores.intents.claim(2, after: 10, until: 100)
                try require(batch.count, equals: expected, "The number of intents")
                taken += batch.map { $0.createdAt.timeIntervalSince(.after(0)) }
            }
            try require(taken, equals: [0, 1, 2, 3, 4], "The ages")
        },
        check("Gives each of a hundred intents to one of forty concurrent workers") { stores in
            for number in 0..<100 { try await stores.intents.enqueue(try intent(number)) }
            let batches = try await concurrently(40) { number in
                try await stores.either(number).intents.claim(3, after: 1, until: 100)
            }
            let taken = batches.flatMap { $0.map(\.id) }
            try require(taken.count, equals: 100, "The number of claimed intents")
            try require(Set(taken).count, equals: 100, "The number of different claimed intents")
        },
        check("Returns a request from a clock that was ahead without delay") { stores in
            let intent = try intent(after: 3 * 3_600)
            try await stores.intents.enqueue(intent)
            try require(try await stores.intents.claim(1, after: 0, until: 100), equals: [intent], "The intents")
        },
        check("Removes a settled intent, and only it") { stores in
            let intents = [try intent(0), try intent(1, after: 1)]
            for intent in intents { try await stores.intents.enqueue(intent) }
            try require(try await stores.intents.count(), equals: 2, "The number of intents")
            try await stores.intents.settle(intents[0])
            try await stores.intents.settle(try intent(1, after: 1))
            try require(try await stores.intents.count(), equals: 1, "The number of intents")
            try require(try await stores.intents.claim(9, after: 9, until: 99), equals: [intents[1]], "The intents")
        },
        check("Returns the time of the oldest intent that is due") { stores in
            try require(try await stores.intents.oldest(at: .after(0)), equals: nil, "The time without intents")
            for number in [1, 2, 3] { try await stores.intents.enqueue(try intent(number, after: TimeInterval(number))) }
            try require(try await stores.intents.oldest(at: .after(0)), equals: nil, "The time before any is due")
            try require(try await stores.intents.oldest(at: .after(9)), equals: .after(1), "The time of three")
            let first = try await stores.intents.claim(1, after: 9, until: 100)
            try require(try await stores.intents.oldest(at: .after(9)), equals: .after(2), "The time without the claimed one")
            try require(try await stores.others.intents.oldest(at: .after(100)), equals: .after(1), "The time after the lease")
            for intent in first {
                try await stores.intents.abandon(intent, leaseEnd: .after(100), until: .after(200), reason: "550")
            }
            try require(try await stores.intents.oldest(at: .after(150)), equals: .after(2), "The time without the abandoned one")
        },
    ]

    /// Checks of leases. When a worker claims an intent, the store hides the intent from other workers until the lease of the worker ends.
    ///
    /// A worker passes the end of its lease with each call, and the store identifies the holder of the lease by this time. If the store has
    /// a later end for the intent, another worker has claimed the intent meanwhile. The store must then ignore the call.
    ///
    /// If a lease ends without a result, for example because the worker crashed, the store must not count a failure of the email. Only
    /// `postpone` and `abandon` increment the number of failures.
    ///
    /// An abandoned intent is a dead letter. Operators can list it until the time that `abandon` received, but workers don't receive it,
    /// and `count` excludes it.
    ///
    /// Common causes of failures:
    /// - *Hides a taken intent until its lease ends*: the store treats a lease as running at exactly its end time. At this time, the lease
    ///   is already over.
    /// - *Returns a postponed intent at its time*: the store returns the intent at the end of the old lease instead of the time that
    ///   `postpone` received, or resets the number of failures.
    /// - *Ignores the holder of a lease that has passed to another*: the update compares only the id, and not the end of the lease.
    /// - *Never returns or counts an abandoned intent*: the store marks the intent as abandoned, but `claim` compares only the due time.
    private static let leases: [AccountStoreCheck] = [
        check("Hides a taken intent until its lease ends, and returns it then without a failure") { stores in
            let intent = try intent()
            try await stores.intents.enqueue(intent)
            try require(try await stores.intents.claim(10, after: 0, until: 120), equals: [intent], "The intents")
            let early = try await stores.others.intents.claim(10, after: 119, until: 300)
            try require(early, equals: [], "The intents within the lease")
            try require(try await stores.intents.count(), equals: 1, "The number of intents")
            let back = try await stores.others.intents.claim(10, after: 120, until: 300)
            try require(back, equals: [intent], "The intents after the lease")
        },
        check("Returns a postponed intent at its time, with its failures") { stores in
            let intent = try intent()
            try await stores.intents.enqueue(intent)
            for failures in 1...3 {
                let time = TimeInterval(failures) * 100
                _ = try await stores.intents.claim(1, after: time, until: time + 90)
                let due = time + 5
                try await stores.intents.postpone(intent, leaseEnd: .after(time + 90), until: .after(due), reason: "421")
                let early = try await stores.intents.claim(1, after: due - 1, until: 1_000)
                try require(early, equals: [], "The intents before the time")
                let back = try await stores.intents.claim(1, after: due, until: due + 1)
                try require(back.map(\.failures), equals: [failures], "The failures")
            }
        },
        check("Ignores the holder of a lease that has passed to another") { stores in
            let intent = try intent()
            try await stores.intents.enqueue(intent)
            _ = try await stores.intents.claim(1, after: 0, until: 10)
            _ = try await stores.intents.claim(1, after: 10, until: 20)
            try await stores.intents.postpone(intent, leaseEnd: .after(10), until: .after(11), reason: "late")
            try await stores.intents.abandon(intent, leaseEnd: .after(10), until: .after(11), reason: "late")
            try await stores.intents.release(intent, leaseEnd: .after(10), at: .after(11))
            try require(try await stores.intents.claim(1, after: 19, until: 30), equals: [], "The intents within the new lease")
            let back = try await stores.intents.claim(1, after: 20, until: 30)
            try require(back, equals: [intent], "The intents after the new lease")
        },
        check("Never returns or counts an abandoned intent, and removes it at its time") { stores in
            let intent = try intent()
            try await stores.intents.enqueue(intent)
            _ = try await stores.intents.claim(1, after: 0, until: 10)
            let reason = "550 5.1.1 at RCPT TO"
            try await stores.intents.abandon(intent, leaseEnd: .after(10), until: .after(100), reason: reason)
            try require(try await stores.intents.count(), equals: 0, "The number of intents")
            try require(try await stores.intents.claim(1, after: 1_000, until: 2_000), equals: [], "The intents")
            try await stores.intents.sweep(at: .after(99))
            let kept = try await stores.intents.mails(limit: 9)
            try require(kept.map(\.state), equals: [.failed], "The states")
            try require(kept.map(\.reason), equals: [reason], "The reasons")
            try require(kept.map(\.failures), equals: [1], "The failures")
            try require(kept.map(\.maskedRecipient), equals: ["A***@example.com"], "The masked recipients")
            try await stores.intents.sweep(at: .after(100))
            try require(try await stores.intents.mails(limit: 9), equals: [], "The queue after the sweep")
        },
    ]

    /// Checks of the order in which `claim` returns reset requests.
    ///
    /// `claim` takes one request of each network in turn. Within a network, it takes the oldest request first. So between two requests of
    /// one network, the store returns at most one request of each other network, even if the other network has many. All requests without a
    /// network together count as one network. The store alternates between new requests and other due intents, such as confirmations and
    /// retries.
    ///
    /// If a worker returns an intent with `release`, the store must return the intent with the next claim, and the number of failures must
    /// not change. With `includesResets: false`, `claim` returns only emails to accounts, such as confirmations. A worker passes `false`
    /// while the limit for the reset emails of all accounts together is exhausted.
    ///
    /// Common causes of failures:
    /// - *Takes reset requests in turn by network*: the store orders by time only, or begins each claim with the same network.
    /// - *Takes a returned intent next*: the store adds the intent behind the other intents of its network, or accepts a release from a
    ///   worker whose lease has ended.
    /// - *Alternates new and due intents*: the store always returns all intents of one kind before the other kind.
    private static let turns: [AccountStoreCheck] = [
        check("Takes reset requests in turn by network, the oldest of each") { stores in
            for number in 0..<50 { try await stores.intents.enqueue(try intent("192.0.2.0/24", number)) }
            var networks: [String?] = []
            for step in 0..<5 {
                networks += try await stores.intents.claim(1, after: 1, until: 100).map(\.origin.client)
                guard step == 0 else { continue }
                try await stores.intents.enqueue(try intent("198.51.100.0/24", 60))
                try await stores.intents.enqueue(try intent(nil, 61))
            }
            let expected = ["192.0.2.0/24", "198.51.100.0/24", nil, "192.0.2.0/24", "192.0.2.0/24"]
            try require(networks, equals: expected, "The networks in the order of their turns")
        },
        check("Takes a returned intent next") { stores in
            let intents = try (0..<3).map { try intent("10.0.\($0).0/24", $0) }
            for intent in intents { try await stores.intents.enqueue(intent) }
            func claim(_ limit: Int) async throws -> [MailIntent] {
                try await stores.intents.claim(limit, after: 1, until: 100)
            }
            try require(try await claim(1), equals: [intents[0]], "The first intent")
            try await stores.intents.release(intents[0], leaseEnd: .after(99), at: .after(1))
            try require(try await claim(1), equals: [intents[1]], "The intent after a return under another lease")
            try await stores.intents.release(intents[0], leaseEnd: .after(100), at: .after(1))
            try require(try await claim(2), equals: [intents[0], intents[2]], "The intents after a return")
        },
        check("Alternates new and due intents, and takes only confirmations during a pause") { stores in
            let new = try (0..<2).map { try intent("10.0.0.0/24", $0) }
            let confirmations = (0..<2).map {
                MailIntent(subject: .passwordChanged(.init(rawValue: UUID())), language: .english, createdAt: .after(Double($0)))
            }
            for intent in new + confirmations { try await stores.intents.enqueue(intent) }
            func claim(_ limit: Int, includesResets: Bool) async throws -> [MailIntent] {
                try await stores.intents.claim(
                    limit: limit,
                    at: .after(5),
                    leaseEnd: .after(100),
                    includesResets: includesResets
                )
            }
            try require(try await claim(1, includesResets: false), equals: [confirmations[0]], "The intents during a pause")
            let all = try await claim(9, includesResets: true)
            let orders = [[confirmations[1], new[0], new[1]], [new[0], confirmations[1], new[1]]]
            try require(orders.contains(all), "New and due intents alternate; they came as \(all.map(\.subject.kind))")
            try require(try await claim(1, includesResets: false), equals: [], "The intents when all are taken")
        },
    ]

    /// Checks of the tools of an operator: the list of queued emails with their states, and a retry that the operator requests.
    ///
    /// A retry makes pending intents due. The store must include abandoned intents only if the operator requests this. The store must never
    /// change an intent that a worker has claimed. Otherwise, the server could send an email twice. For a confirmation, the queue stores
    /// only the id of the account, so the list must look up the account's address.
    private static let inspections: [AccountStoreCheck] = [
        check("Makes pending and, on demand, failed intents due on a retry, but none in flight") { stores in
            let intents = try (0..<4).map { try intent($0, after: TimeInterval($0)) }
            for intent in intents { try await stores.intents.enqueue(intent) }
            _ = try await stores.intents.claim(3, after: 3, until: 100)
            try await stores.intents.postpone(intents[0], leaseEnd: .after(100), until: .after(300), reason: "421")
            try await stores.intents.abandon(intents[1], leaseEnd: .after(100), until: .after(300), reason: "550")
            let states = try await stores.intents.mails(limit: 9).map(\.state)
            try require(states, equals: [.waiting, .failed, .taken, .waiting], "The states, oldest first")
            try require(try await stores.intents.lastRetry(), equals: nil, "The time of the last retry")
            for (ids, includingFailed, expected) in [
                // The retry doesn't change the last intent, because it is already due.
                (nil, false, 1), ([intents[2].id], true, 0), ([intents[1].id], true, 1),
            ] as [(Set<UUID>?, Bool, Int)] {
                let count = try await stores.intents.retry(ids, includingFailed: includingFailed, at: .after(4))
                try require(count, equals: expected, "The number of intents that became due")
            }
            try require(try await stores.intents.lastRetry(), equals: .after(4), "The time of the last retry")
            let due = try await stores.intents.claim(9, after: 4, until: 90)
            try require(Set(due.map(\.id)), equals: Set([intents[0].id, intents[1].id, intents[3].id]), "The due intents")
        },
        check("Lists emails of the same time in the order of their ids, also after a change") { stores in
            let intents = try (0..<9).map { try intent($0) }
            for intent in intents { try await stores.intents.enqueue(intent) }
            for intent in try await stores.intents.claim(4, after: 1, until: 100) {
                try await stores.intents.postpone(intent, leaseEnd: .after(100), until: .after(200), reason: "421")
            }
            let ids = intents.map(\.id.uuidString).sorted()
            let listed = try await stores.intents.mails(limit: 5).map(\.id.uuidString)
            try require(listed, equals: Array(ids.prefix(5)), "The ids of the first emails")
        },
        check.withAccount("Shows a confirmation with the address of its account") { stores, account in
            for (id, seconds) in [(account.id, 0.0), (Account.ID(rawValue: UUID()), 1)] {
                let intent = MailIntent(subject: .passwordChanged(id), language: .english, createdAt: .after(seconds))
                try await stores.intents.enqueue(intent)
            }
            let recipients = try await stores.intents.mails(limit: 9).map(\.recipient)
            try require(recipients, equals: [account.email, nil], "The recipients")
            try require(try await stores.intents.mails(limit: 1).count, equals: 1, "The number of emails at a limit of 1")
            try await stores.intents.ping()
        },
    ]

    /// Checks of `SentResetStore`, which limits the number of reset emails, both per account and for all accounts together.
    ///
    /// Before the server sends an email, it reserves the email in the store, which counts it. The store identifies the reservation by the
    /// id of the intent. So several attempts to send the same email count once, even after a crash. The limit of an account is a sliding
    /// window: the account can receive another email exactly when an earlier email leaves the window, even if a sweep has run. The limit
    /// for all accounts is spread evenly over its window. Concurrent calls must never exceed a limit. If the caller didn't send the email
    /// and cancels its reservation, the email no longer counts. The caller passes the time of the reservation, so a repeated cancellation
    /// never removes a later reservation of the same email.
    ///
    /// Common causes of failures:
    /// - *Counts several tries of an email once*: each call adds a row, a repeated call doesn't replace the time that the first call
    ///   stored, or a repeated call doesn't return `reservedAgain`.
    /// - *Cancels a reservation by its time*: the store ignores the time, or rounds the stored time.
    /// - *Paces all emails*: the store admits the whole quota at once. But a policy of 100 per minute with a burst of 10 admits only 10
    ///   emails within 6 s.
    /// - *Reserves 10 of 40 concurrent emails*: the store counts and inserts in two steps without a lock.
    public static let sentResets: [AccountStoreCheck] = [
        sentCheck.withAccount("Counts several tries of an email once, and a canceled email not at all") { stores, account in
            let other = try await stores.addAccount("bob@example.com")
            let (store, ids) = (stores.sentResets, (0..<3).map { _ in UUID() })
            let bounds = ResetMailBounds(perAccount: .requests(2, per: .seconds(60)))
            func reserve(_ number: Int, after seconds: TimeInterval) async throws -> ResetMailDecision {
                try await store.reserve(ids[number], for: account.id, within: bounds, at: .after(seconds))
            }
            try require(try await reserve(0, after: 0), equals: .reserved, "The first email")
            for _ in 0..<4 { try require(try await reserve(0, after: 0), equals: .reservedAgain, "A retry of the first email") }
            try require(try await reserve(1, after: 1), equals: .reserved, "The second email")
            try require(try await reserve(2, after: 2), equals: .accountExceeded, "The third email")
            let others = try await store.reserve(UUID(), for: other.id, within: bounds, at: .after(2))
            try require(others, equals: .reserved, "An email for another account")
            try await store.cancel(ids[0], reservedAt: .after(0))
            try require(try await reserve(2, after: 2), equals: .reserved, "The third email after a cancellation")
            while try await store.sweep(at: .after(60.5)) {}
            try require(try await reserve(0, after: 60.5), equals: .accountExceeded, "The first email after 60.5 s")
            try require(try await reserve(0, after: 61), equals: .reserved, "The first email after 61 s")
        },
        sentCheck.withAccount("Cancels a reservation by its time, and never a later one of the same email") { stores, account in
            let (store, ids) = (stores.sentResets, (0..<3).map { _ in UUID() })
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(60)))
            func reserve(_ number: Int, after seconds: TimeInterval) async throws -> ResetMailDecision {
                try await store.reserve(ids[number], for: account.id, within: bounds, at: .after(seconds))
            }
            // These times have no exact binary or decimal representation.
            let (first, second) = (1 / 3.0, 2 / 3.0)
            try require(try await reserve(0, after: first), equals: .reserved, "The first email")
            try require(try await reserve(0, after: second), equals: .reservedAgain, "A retry of the first email")
            try await stores.others.sentResets.cancel(ids[0], reservedAt: .after(first))
            try require(try await reserve(1, after: 1), equals: .accountExceeded, "The second email after the first cancellation")
            for _ in 0..<2 { try await stores.others.sentResets.cancel(ids[0], reservedAt: .after(second)) }
            try require(try await reserve(1, after: 1), equals: .reserved, "The second email after a cancellation")
            for id in [ids[0], ids[2]] { try await store.cancel(id, reservedAt: .after(1)) }
            try require(try await reserve(2, after: 2), equals: .accountExceeded, "The third email")
        },
        sentCheck.withAccount("Paces all emails, and reports when the next one may be sent") { stores, account in
            let store = stores.sentResets
            // The store spreads 100 emails per minute evenly, as 10 emails per 6 s.
            let bounds = ResetMailBounds(overall: .requests(100, per: .seconds(60)))
            func reserve(after seconds: TimeInterval) async throws -> ResetMailDecision {
                try await store.reserve(UUID(), for: account.id, within: bounds, at: .after(seconds))
            }
            for number in 0..<10 {
                try require(try await reserve(after: TimeInterval(number) / 10), equals: .reserved, "Email \(number + 1)")
            }
            try require(try await reserve(after: 1), equals: .later(.after(6)), "Email 11")
            try require(try await reserve(after: 6), equals: .reserved, "Email 11 at its time")
        },
        sentCheck.withAccount("Counts emails without an account in all, and for no account") { stores, account in
            let bounds = ResetMailBounds(perAccount: .requests(1, per: .seconds(60)), overall: .requests(3, per: .seconds(60)))
            func reserve(_ account: Account.ID?, after seconds: TimeInterval) async throws -> ResetMailDecision {
                try await stores.sentResets.reserve(UUID(), for: account, within: bounds, at: .after(seconds))
            }
            for number in 0..<2 {
                try require(try await reserve(nil, after: 1), equals: .reserved, "Email \(number + 1) without an account")
            }
            try require(try await reserve(account.id, after: 2), equals: .reserved, "The email of the account")
            try require(try await reserve(nil, after: 3), equals: .later(.after(61)), "Email 4")
            try require(try await reserve(account.id, after: 3), equals: .accountExceeded, "Another email of the account")
        },
        sentCheck.withAccount("Reserves 10 of 40 concurrent emails at a limit of 10") { stores, account in
            let bounds = ResetMailBounds(perAccount: .requests(10, per: .seconds(3_600)))
            let decisions = try await concurrently(40) { number in
                try await stores.either(number).sentResets.reserve(UUID(), for: account.id, within: bounds, at: .after(0))
            }
            try require(decisions.count { $0 == .reserved }, equals: 10, "The number of reserved emails")
        },
    ]

    /// Checks of `AuditStore`: the order of events, events of unknown accounts, and the sweep. The sweep limits the number of stored events
    /// for each kind of event separately.
    ///
    /// The store returns the newest event first. If several events have the same time, the event that was appended last counts as the
    /// newest, so a store needs a sequence number in addition to the time. The store skips events of unknown accounts without an error,
    /// because the server can remove an account while events of the account are still pending in memory.
    ///
    /// Because each kind has its own limit, rare events, such as a password reset, remain even if an attacker causes hundreds of failed
    /// sign-ins.
    ///
    /// Common causes of failures:
    /// - *Skips events of unknown accounts*: a foreign key refuses the whole batch.
    /// - *Sweeps old events, and all but the newest of each kind*: the store counts the events of all kinds together.
    /// - *Sweeps events by their times, also after the clock was set back*: the store removes the events that were appended first.
    public static let audit: [AccountStoreCheck] = [
        auditCheck("Returns the newest events of an account first, with their origins") { stores in
            let (ana, bob) = (try await stores.addAccount(), try await stores.addAccount("bob@example.com"))
            let origin = AuditOrigin(client: "198.51.100.0/24", requestID: "id-1")
            func event(_ kind: AuditEvent.Kind, _ account: Account.ID, _ seconds: TimeInterval) -> AuditEvent {
                AuditEvent(kind: kind, accountID: account, time: .after(seconds), origin: origin)
            }
            let events = [event(.signInFailed, ana.id, 1), event(.signedIn, ana.id, 1), event(.registered, ana.id, 0)]
            try await stores.audit.append(events + [event(.signedIn, bob.id, 2)])
            let newest = try await stores.others.audit.events(of: ana.id, limit: 9)
            try require(newest, equals: [events[1], events[0], events[2]], "The events")
            try require(try await stores.audit.events(of: ana.id, limit: 1), equals: [events[1]], "The newest event")
        },
        auditCheck.withAccount("Skips events of unknown accounts, and stores the others") { stores, account in
            let unknown = Account.ID(rawValue: UUID())
            let events = [unknown, account.id, unknown].map {
                AuditEvent(kind: .signedIn, accountID: $0, time: .after(0), origin: .none)
            }
            try await stores.audit.append(events)
            try require(try await stores.audit.events(of: account.id, limit: 9), equals: [events[1]], "The events")
            try require(try await stores.audit.events(of: unknown, limit: 9), equals: [], "The events of an unknown account")
        },
        auditCheck.withAccount("Sweeps old events, and all but the newest of each kind") { stores, account in
            let store = stores.audit
            func event(_ kind: AuditEvent.Kind, _ seconds: Double) -> AuditEvent {
                AuditEvent(kind: kind, accountID: account.id, time: .after(seconds), origin: .none)
            }
            try await store.append([event(.registered, -100), event(.passwordReset, 1)])
            try await store.append((0..<700).map { event(.signInFailed, Double($0)) })
            while try await store.sweep(before: .after(0), limit: 200) {}
            let kept = try await store.events(of: account.id, limit: 1_000)
            let failures = kept.filter { $0.kind == .signInFailed }
            try require(failures.count, equals: 200, "The number of events of the crowded kind")
            try require(failures.last?.time, equals: .after(500), "The oldest of them")
            try require(kept.last, equals: event(.passwordReset, 1), "The oldest event of another kind")
        },
        auditCheck.withAccount("Sweeps events by their times, also after the clock was set back") { stores, account in
            let events = [3.0, 1, 2].map {
                AuditEvent(kind: .signedIn, accountID: account.id, time: .after($0), origin: .none)
            }
            for event in events { try await stores.audit.append([event]) }
            while try await stores.audit.sweep(before: .after(0), limit: 2) {}
            let kept = try await stores.audit.events(of: account.id, limit: 9)
            try require(kept, equals: [events[0], events[2]], "The newest events")
        },
    ]
}
