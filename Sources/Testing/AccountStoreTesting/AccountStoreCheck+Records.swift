public import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation
import RateLimiting

extension AccountStoreCheck {
    /// Checks of `AccountRecordStore`: links, changes of an account with its links, reserved addresses, devices, and the removal of
    /// accounts.
    ///
    /// A store contains only the digests of tokens, so the checks compare digests and never tokens.
    public static let records = links + changes + reservations + activations + devices + purgeCandidates + purges

    /// Creates checks whose descriptions begin with `records:`.
    private static let check = CheckBuilder(store: "records")

    /// Checks of `insert`, `find`, `record` and `discard`. `find` must not consume a link, because email scanners open links. At exactly
    /// the time of its expiry, a link is already expired.
    ///
    /// Common causes of failures:
    /// - *Returns a link with the record of its account until it expires, also repeatedly*: the store stores only the normalized recipient,
    ///   or compares the expiry with `>=` instead of `>`.
    /// - *Returns the link of a registration with its name, without an account*: the store requires an account for every link, or builds
    ///   SQL from strings. The link of a registration has no account yet.
    /// - *Throws for the link of an unknown account*: the table has no foreign key.
    /// - *Returns only the unexpired links of the account itself in a record*: the store filters expired links in `find`, but not in
    ///   `record`.
    /// - *Sweeps expired links and former addresses, and nothing else*: the sweep removes all former addresses of an account if one of them
    ///   has expired.
    private static let links: [AccountStoreCheck] = [
        check("Returns a link with the record of its account until it expires, also repeatedly") { stores in
            let account = try await stores.addAccount("Ana@example.com")
            for purpose in [AccountLink.Purpose.verifyEmail, .confirmEmail, .undoEmail, .keepAccount] {
                let link = StoredLink.sample(purpose, for: account, recipient: try EmailAddress("New@Example.com"), epoch: 3)
                try await stores.records.insert(link)
                for seconds in [1, 3_599.5] {
                    let found = try await stores.others.records.find(link.digest, at: .after(seconds))
                    try require(found?.link, equals: link, "The link")
                    try require(found?.link.recipient.text, equals: "New@example.com", "The recipient as it was typed")
                    try require(found?.record?.account, equals: account, "The account")
                    try require(found?.record?.links.contains(link), equals: true, "Whether the record has the link")
                }
                let expired = try await stores.records.find(link.digest, at: .after(3_600))
                try require(expired?.link, equals: nil, "The link at the instant of its expiry")
            }
        },
        check("Returns the link of a registration with its name, without an account") { stores in
            let link = try StoredLink.registration(of: "ana@example.com", name: "Ana 🐦 O'Brien\";--", language: Language("es-MX"))
            try await stores.records.insert(link)
            let found = try await stores.others.records.find(link.digest, at: .after(1))
            try require(found?.link, equals: link, "The link")
            try require(found?.record, equals: nil, "The record")
        },
        check("Throws for the link of an unknown account") { stores in
            let nobody = try Account.sample()
            try await requireFailure("insert throws for an unknown account") {
                try await stores.records.insert(.sample(.verifyEmail, for: nobody))
            }
        },
        check.withAccount("Finds no unknown and no discarded link, and no record of an unknown account") { stores, account in
            let (kept, discarded) = (StoredLink.sample(.verifyEmail, for: account), StoredLink.sample(.verifyEmail, for: account))
            for link in [kept, discarded] { try await stores.records.insert(link) }
            try await stores.records.discard(discarded.digest)
            for digest in [discarded.digest, SecretToken().digest] {
                try require(try await stores.records.find(digest, at: .after(1))?.link, equals: nil, "The link")
            }
            let record = try await stores.records.record(of: account.id, at: .after(1))
            try require(record?.links, equals: [kept], "The links of the record")
            let unknown = try await stores.records.record(of: Account.ID(rawValue: UUID()), at: .after(1))
            try require(unknown, equals: nil, "The record")
        },
        check("Returns only the unexpired links of the account itself in a record") { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            let links = [
                StoredLink.sample(.verifyEmail, for: ana), StoredLink.sample(.confirmEmail, for: ana, after: 100),
                StoredLink.sample(.verifyEmail, for: ben),
            ]
            for link in links { try await stores.records.insert(link) }
            for (seconds, expected) in [(1.0, Set(links[..<2])), (3_600, [links[1]]), (3_700, [])] {
                let record = try await stores.records.record(of: ana.id, at: .after(seconds))
                try require(record.map { Set($0.links) }, equals: expected, "The links after \(seconds) s")
            }
        },
        check.withAccount("Sweeps expired links and former addresses, and nothing else") { stores, account in
            let links = [StoredLink.sample(.verifyEmail, for: account), .sample(.verifyEmail, for: account, after: 100)]
            for link in links { try await stores.records.insert(link) }
            try await stores.move(account, to: "b@example.com", until: 3_600)
            try await stores.move(account, to: "c@example.com", until: 3_700)
            while try await stores.records.sweep(at: .after(3_600)) {}
            let record = try await stores.records.record(of: account.id, at: .after(1))
            try require(record?.links, equals: [links[1]], "The links")
            try require(record?.formerAddresses.map(\.email.text), equals: ["b@example.com"], "The former addresses")
        },
    ]

    /// Checks of `change`. The store reads an account with its links, passes this record to a closure, and stores all changes of the
    /// closure in one transaction or not at all.
    ///
    /// Common causes of failures:
    /// - *Applies forty concurrent changes one after another*: the store reads the account without a lock.
    /// - *Changes nothing if the closure throws, or if an intent can't be added*: the store applies the effects (ended sessions, removed
    ///   tokens, new emails and the audit event) in a second transaction.
    /// - *Gives an address to one of twenty accounts*: the store reads the address before it writes. Only a unique constraint can decide.
    private static let changes: [AccountStoreCheck] =
        [
            check("Writes every value of an account except its id, state and creation, and returns the closure's value") {
                stores in
                let account = try await stores.addAccount(state: .suspended)
                let other = try await stores.addAccount("ben@example.com")
                var expected = account
                expected.email = try EmailAddress("New.Ana@example.com")
                expected.firstName = try FirstName("Bea")
                (expected.passwordHash, expected.language, expected.epoch) = ("new hash", .french, 9)
                (expected.isEmailVerified, expected.purgeAt) = (false, .after(77))
                let written = expected
                let value = try await stores.records.change(account.id, at: .after(1)) { record in
                    record.account = written
                    record.account.state = .active
                    record.account.createdAt = .after(500)
                    return "value"
                }
                try require(value, equals: "value", "The value")
                try require(try await stores.stored(account), equals: expected, "The account")
                let typed = try await stores.stored(account).email.text
                try require(typed, equals: "New.Ana@example.com", "The address as it was typed")
                let found = try await stores.others.accounts.account(email: try EmailAddress("new.ana@example.com"))
                try require(found, equals: expected, "The account of the new address")
                let former = try await stores.accounts.account(email: account.email)
                try require(former, equals: nil, "The account of the earlier address")
                try require(try await stores.stored(other), equals: other, "Another account")
                _ = try await stores.records.change(account.id, at: .after(1)) { $0.account.purgeAt = nil }
                try require(try await stores.stored(account).purgeAt, equals: nil, "The time of the removal")
            },
            check("Returns nil for an unknown account, without a call of the closure") { stores in
                let unknown: Void? = try await stores.records.change(Account.ID(rawValue: UUID()), at: .after(1)) { _ in
                    throw Difference(description: "The closure is called")
                }
                try require(unknown == nil, "change returns nil")
            },
            check("Removes the links and former addresses that the closure removed, and adds former addresses in order") {
                stores in
                let account = try await stores.addAccount()
                let links = (0..<3).map { _ in StoredLink.sample(.verifyEmail, for: account) }
                for link in links { try await stores.records.insert(link) }
                let expired = StoredLink.sample(.verifyEmail, for: account, after: -3_600)
                try await stores.records.insert(expired)
                let addresses = try ["b@example.com", "a@example.com", "b@example.com", "c@example.com"].map { text in
                    FormerAddress(email: try EmailAddress(text), replacedAt: .after(2), expiresAt: .after(100))
                }
                _ = try await stores.records.change(account.id, at: .after(1)) { record in
                    record.links.removeAll { $0 == links[1] }
                    record.formerAddresses = addresses
                }
                var record = try await stores.others.records.record(of: account.id, at: .after(1))
                try require(record.map { Set($0.links) }, equals: [links[0], links[2]], "The links")
                try require(record?.formerAddresses, equals: addresses, "The former addresses")
                try require(try await stores.records.find(links[1].digest, at: .after(1))?.link, equals: nil, "The removed link")
                _ = try await stores.records.change(account.id, at: .after(1)) { $0.formerAddresses.removeSubrange(1...2) }
                record = try await stores.records.record(of: account.id, at: .after(1))
                try require(record?.formerAddresses, equals: [addresses[0], addresses[3]], "The former addresses")
                record = try await stores.records.record(of: account.id, at: .after(100))
                try require(record?.formerAddresses, equals: [], "The former addresses at the instant of their expiry")
            },
        ]
        + [AccountRecord.Effects.SessionEnd.none, .all, .others(.init(rawValue: UUID()))].map { end in
            check("Applies the effects of a change, and ends \(end.name) sessions") { stores in
                let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
                let sessions = [
                    try await OpenedSession(stores, account: ana), try await OpenedSession(stores, account: ana),
                    try await OpenedSession(stores, account: ben),
                ]
                let tokens = [try await stores.mint(for: ana), try await stores.mint(for: ben)]
                let locks = [SecretToken().digest, SecretToken().digest]
                for (lock, account) in zip(locks, [ana, ben]) {
                    try await stores.accountLockTokens.insert(lock, account: account.id, expiresAt: .after(60))
                }
                let intents = [
                    MailIntent(subject: .emailChanged(ana.id, from: ana.email), language: .french, createdAt: .after(1)),
                    MailIntent(subject: .passwordChanged(ana.id), language: .french, createdAt: .after(2)),
                ]
                let event = AuditEvent(kind: .deleted, accountID: ana.id, time: .after(1), origin: .none)
                let (first, removesTokens) = (sessions[0].session.id, end != .none)
                _ = try await stores.records.change(ana.id, at: .after(1)) { record in
                    if case .others = end {
                        record.effects.sessions = .others(first)
                    } else {
                        record.effects.sessions = end
                    }
                    record.effects.removesRecoveryTokens = removesTokens
                    record.effects.intents = intents
                    record.effects.event = event
                }
                var alive: [Bool] = []
                for session in sessions { alive.append(try await session.isAlive) }
                try require(alive, equals: [end != .all, end == .none, true], "Whether the sessions are alive")
                for (session, isAlive) in zip(sessions, alive) {
                    let outcome = try await session.use(session.first, after: 2).outcome
                    try require(outcome == .refused, equals: !isAlive, "Whether a refresh is refused")
                }
                try require(try await stores.isLive(tokens[0]), equals: !removesTokens, "Whether the reset link is live")
                try require(await stores.isLive(tokens[1]), "The reset link of another account is live")
                let found = [
                    try await stores.account(ofLock: locks[0], after: 2)?.id,
                    try await stores.account(ofLock: locks[1], after: 2)?.id,
                ]
                try require(found, equals: [removesTokens ? nil : ana.id, ben.id], "The accounts of the lock tokens")
                try require(try await stores.intents.claim(9, after: 9, until: 99), equals: intents, "The emails to send")
                try require(try await stores.others.audit.events(of: ana.id, limit: 9), equals: [event], "The events")
            }
        } + [
            check.withAccount("Changes nothing if the closure throws, or if an intent can't be added") { stores, account in
                let session = try await OpenedSession(stores, account: account)
                let link = StoredLink.sample(.verifyEmail, for: account)
                try await stores.records.insert(link)
                let intent = MailIntent(subject: .passwordChanged(account.id), language: .english, createdAt: .after(1))
                try await stores.intents.enqueue(intent)
                let event = AuditEvent(kind: .deleted, accountID: account.id, time: .after(1), origin: .none)
                for error in [AccountError.resetTokenInvalid, nil] {
                    try await requireFailure("change throws") {
                        _ = try await stores.records.change(account.id, at: .after(1)) { record in
                            record.account.email = try EmailAddress("new@example.com")
                            record.account.epoch += 1
                            record.links = []
                            record.formerAddresses = [
                                FormerAddress(email: account.email, replacedAt: .after(1), expiresAt: .after(100))
                            ]
                            record.effects.sessions = .all
                            record.effects.intents = [intent]
                            record.effects.event = event
                            if let error { throw error }
                        }
                    }
                    let record = try await stores.records.record(of: account.id, at: .after(1))
                    try require(record, equals: AccountRecord(account: account, links: [link]), "The record")
                    try require(await session.isAlive, "The session is alive")
                    try require(try await stores.intents.count(), equals: 1, "The number of emails to send")
                    try require(try await stores.audit.events(of: account.id, limit: 9), equals: [], "The events")
                    let found = try await stores.accounts.account(email: account.email)
                    try require(found, equals: account, "The account of the address")
                }
            },
            check.withAccount("Throws the error of the closure") { stores, account in
                do {
                    _ = try await stores.records.change(account.id, at: .after(1)) { _ in throw AccountError.resetTokenInvalid }
                } catch let error as AccountError where error == .resetTokenInvalid {
                    return
                }
                throw Difference(description: "change throws no error")
            },
            check.withAccount("Applies forty concurrent changes one after another") { stores, account in
                _ = try await concurrently(40) { number in
                    try await stores.either(number).records.change(account.id, at: .after(1)) { $0.account.epoch += 1 }
                }
                try require(try await stores.stored(account).epoch, equals: 40, "The epoch")
            },
            check.withAccount("Accepts a link once, of twenty concurrent uses, in each of five rounds") { stores, account in
                for round in 1...5 {
                    let link = StoredLink.sample(.verifyEmail, for: account)
                    try await stores.records.insert(link)
                    let results = try await concurrently(20) { number in
                        try await stores.either(number).records.change(account.id, at: .after(1)) { record in
                            guard record.links.contains(link) else { return false }
                            record.links.removeAll { $0 == link }
                            record.account.epoch += 1
                            return true
                        }
                    }
                    try require(results.count { $0 == true }, equals: 1, "The number of uses that found the link")
                    try require(try await stores.stored(account).epoch, equals: round, "The epoch")
                }
            },
            check("Gives an address to one of twenty accounts that change to it concurrently") { stores in
                var accounts: [Account] = []
                for number in 0..<20 { accounts.append(try await stores.addAccount("a\(number)@example.com")) }
                let all = accounts
                let results = try await concurrently(20) { number in
                    do {
                        return try await stores.either(number).move(
                            all[number],
                            to: number < 10 ? "x@example.com" : "X@example.com"
                        )
                    } catch let error as AccountError where error == .emailExists {
                        return false
                    }
                }
                try require(results.count { $0 }, equals: 1, "The number of changes that succeeded")
                let found = try await stores.accounts.accounts().count { $0.email.normalized == "x@example.com" }
                try require(found, equals: 1, "The number of accounts with the address")
            },
        ]

    /// Checks that a former address stays reserved for its account until the reservation expires. Until then, `insert`, `change` and
    /// `activate` must refuse the address for other accounts.
    ///
    /// Common causes of failures:
    /// - *Adds no account with an address while another account releases it*: the store reads the former addresses before it inserts the
    ///   address. If the other account's change commits between these two steps, the store doesn't see the reservation.
    private static let reservations: [AccountStoreCheck] = [
        check("Refuses to add an account with a former address of another until it expires") { stores in
            let account = try await stores.addAccount("Ana@example.com")
            try await stores.move(account, to: "new@example.com", until: 100)
            for seconds in [0, 99.5] {
                var second = try Account.sample("ANA@example.com")
                second.createdAt = .after(seconds)
                try require(await !stores.accounts.insert(second), "insert returns false after \(seconds) s")
                let third = try Account.sample("free\(Int(seconds))@example.com")
                let added = try await stores.others.accounts.insert(contentsOf: [second, third])
                try require(added, equals: [third.id], "The ids of the added accounts")
            }
            var second = try Account.sample("ana@example.com")
            second.createdAt = .after(100)
            try require(await stores.accounts.insert(second), "insert returns true once the address has expired")
            try require(try await stores.accounts.account(email: account.email), equals: second, "The account of the address")
        },
        check("Returns whether an account can get an address") { stores in
            let (ana, ben) = (try await stores.addAccount("Ana@example.com"), try await stores.addAccount("ben@example.com"))
            try await stores.move(ana, to: "new@example.com", until: 100)
            let takers: [(name: String, account: Account.ID?)] = [("a new one", nil), ("Ana", ana.id), ("Ben", ben.id)]
            let cases: [(email: String, seconds: TimeInterval, expected: [Bool])] = [
                ("free@example.com", 1, [true, true, true]), ("NEW@example.com", 1, [false, true, false]),
                ("ana@example.com", 99.5, [false, true, false]), ("ana@example.com", 100, [true, true, true]),
            ]
            for (email, seconds, expected) in cases {
                for (taker, expected) in zip(takers, expected) {
                    let isAvailable = try await stores.others.records.isAvailable(
                        try EmailAddress(email),
                        to: taker.account,
                        at: .after(seconds)
                    )
                    let what = "Whether \(email) is available to \(taker.name) after \(seconds) s"
                    try require(isAvailable, equals: expected, what)
                }
            }
        },
        check("Refuses to change an account to a present or former address of another until it expires") { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            try await stores.move(ana, to: "new@example.com", until: 100)
            for (email, seconds) in [("New@example.com", 1.0), ("ANA@example.com", 1), ("ana@example.com", 99.5)] {
                var isRefused = false
                do {
                    try await stores.move(ben, to: email, at: seconds)
                } catch let error as AccountError where error == .emailExists {
                    isRefused = true
                }
                try require(isRefused, "change throws emailExists for \(email) after \(seconds) s")
                try require(try await stores.stored(ben), equals: ben, "The account")
            }
            try require(await stores.move(ben, to: "ana@example.com", at: 100), "change succeeds once the address has expired")
            try require(try await stores.accounts.account(email: ana.email)?.id, equals: ben.id, "The account of the address")
        },
        check("Lets an account return to its own former address, and change the case of its address") { stores in
            let account = try await stores.addAccount("ana@example.com")
            for email in ["new@example.com", "ana@example.com", "ANA@example.com", "new@example.com"] {
                try require(await stores.move(account, to: email, until: 100), "change succeeds for \(email)")
                try require(try await stores.stored(account).email.text, equals: email, "The address")
                let found = try await stores.others.accounts.account(email: try EmailAddress(email))
                try require(found?.id, equals: account.id, "The account of the address")
            }
            let other = try await stores.accounts.insert(.sample("Ana@example.com"))
            try require(!other, "insert returns false for the former address")
        },
        check.withAccount("Releases an address that is removed from the former ones") { stores, account in
            try await stores.move(account, to: "b@example.com", until: 100)
            _ = try await stores.records.change(account.id, at: .after(1)) { $0.formerAddresses = [] }
            try require(await stores.accounts.insert(try .sample()), "insert returns true for the released address")
        },
        check("Adds no account with an address while another account releases it, in each of ten rounds") { stores in
            for round in 0..<10 {
                let account = try await stores.addAccount("ana\(round)@example.com")
                let results = try await concurrently(5) { number in
                    if number == 0 { return try await !stores.move(account, to: "new\(round)@example.com", until: 100) }
                    let other = try Account.sample("ana\(round)@example.com")
                    if number == 1 { return try await stores.either(number).accounts.insert(other) }
                    if number == 2 { return try await !stores.either(number).accounts.insert(contentsOf: [other]).isEmpty }
                    let link = try StoredLink.registration(of: other.email.text)
                    try await stores.either(number).records.insert(link)
                    return try await stores.either(number).records.activate(link.digest, as: other, at: .after(1))
                }
                try require(results.count { $0 }, equals: 0, "The number of accounts that were added")
            }
        },
    ]

    /// Checks of `activate`, which creates an account with the link of a registration. A link creates at most one account, and only for the
    /// address to which the server sent the link.
    ///
    /// Common causes of failures:
    /// - *Activates one account of twenty concurrent callers with two links*: the store checks the link and adds the account in two
    ///   transactions. After a success, all registration links of the same address must be invalid.
    /// - *Stores the account, and removes no other links*: the store removes all links that were sent to the address, including links of
    ///   other accounts.
    /// - *Refuses an unknown, expired or foreign link, and a taken address*: the store compares only the digest. It must also compare the
    ///   purpose and the address, and a refusal must not consume the link.
    /// - *Refuses a former address of another account until it expires*: the store checks only the current addresses of accounts.
    private static let activations: [AccountStoreCheck] = [
        check("Activates one account of twenty concurrent callers with two links, in each of five rounds") { stores in
            for round in 0..<5 {
                let email = "ana\(round)@example.com"
                let links = [try StoredLink.registration(of: email), try StoredLink.registration(of: email.uppercased())]
                for link in links { try await stores.records.insert(link) }
                let results = try await concurrently(20) { number in
                    let account = try Account.sample(email)
                    let link = links[number / 2 % 2]
                    return try await stores.either(number).records.activate(link.digest, as: account, at: .after(1))
                }
                try require(results.count { $0 }, equals: 1, "The number of calls that returned true")
                try require(try await stores.accounts.accounts().count, equals: round + 1, "The number of accounts")
                for link in links {
                    try require(try await stores.records.find(link.digest, at: .after(1))?.link, equals: nil, "The link")
                }
            }
        },
        check("Stores the account, and removes no other links") { stores in
            let others = [
                try StoredLink.registration(of: "ben@example.com"),
                StoredLink.sample(
                    .confirmEmail,
                    for: try await stores.addAccount("eve@example.com"),
                    recipient: try EmailAddress("ana@example.com")
                ),
            ]
            let link = try StoredLink.registration(of: "ana@example.com")
            for link in others + [link] { try await stores.records.insert(link) }
            let account = try Account.sample()
            try require(await stores.records.activate(link.digest, as: account, at: .after(1)), "activate returns true")
            try require(try await stores.stored(account), equals: account, "The account")
            for other in others {
                try require(try await stores.records.find(other.digest, at: .after(1))?.link, equals: other, "Another link")
            }
        },
        check("Refuses an unknown, expired or foreign link, and a taken address") { stores in
            let ana = try await stores.addAccount()
            let verification = StoredLink.sample(.verifyEmail, for: ana, recipient: try EmailAddress("ben@example.com"))
            let link = try StoredLink.registration(of: "ben@example.com")
            let taken = try StoredLink.registration(of: "ana@example.com")
            for link in [verification, link, taken] { try await stores.records.insert(link) }
            for (digest, email, seconds) in [
                (SecretToken().digest, "ben@example.com", 1.0), (verification.digest, "ben@example.com", 1),
                (link.digest, "eve@example.com", 1), (link.digest, "ben@example.com", 3_600),
                (taken.digest, "ana@example.com", 1),
            ] {
                let account = try Account.sample(email)
                let isAdded = try await stores.records.activate(digest, as: account, at: .after(seconds))
                try require(!isAdded, "activate returns false for \(email) after \(seconds) s")
            }
            try require(try await stores.accounts.accounts(), equals: [ana], "The list of accounts")
            try require(try await stores.records.find(link.digest, at: .after(1))?.link, equals: link, "The unused link")
        },
        check("Refuses a former address of another account until it expires") { stores in
            try await stores.move(try await stores.addAccount(), to: "new@example.com", until: 100)
            let link = try StoredLink.registration(of: "ana@example.com")
            try await stores.records.insert(link)
            for (seconds, isFree) in [(99.5, false), (100, true)] {
                let isAdded = try await stores.records.activate(link.digest, as: try .sample(), at: .after(seconds))
                try require(isAdded, equals: isFree, "What activate returns after \(seconds) s")
            }
        },
    ]

    /// Checks of `noteDevice` and `devices`. A family is a kind of device, such as `iPhone`. `noteDevice` never reports the first family of
    /// an account as new, because the server stores this family at the registration, or at the first sign-in after an upgrade of an older
    /// server. It reports each further family as new, once.
    ///
    /// Common causes of failures:
    /// - *Reports each family of devices once, except the first one of an account*: the store reports the first family, or updates the
    ///   stored time of a known family.
    /// - *Reports one of twenty concurrent sign-ins from a new family*: the store reads before it writes. The user would then get several
    ///   emails about one device.
    /// - *Throws for the device of an unknown account*: the table has no foreign key.
    /// - *Queues the email about a new family of devices only if the family is new*: the store adds the email for each sign-in.
    /// - *Stores no new family of devices if its email can't be added*: the store writes the family and the email in two transactions.
    private static let devices: [AccountStoreCheck] = [
        check("Reports each family of devices once, except the first one of an account") { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            for (account, family, seconds, isNew) in [
                (ana, "iPhone", 1.0, false), (ana, "iPhone", 2, false), (ana, "Firefox on Linux", 3, true),
                (ben, "iPad", 4, false),
                (ana, "iPhone", 5, false), (ana, "Firefox on Linux", 6, false), (ana, "iPad", 7, true),
            ] {
                let found = try await stores.records.noteDevice(family: family, of: account.id, at: .after(seconds), notice: nil)
                try require(found, equals: isNew, "What noteDevice returns for \(family) after \(seconds) s")
            }
            let devices = try await stores.others.records.devices(of: ana.id)
            try require(devices.map(\.family), equals: ["Firefox on Linux", "iPad", "iPhone"], "The families")
            let times = [3, 7, 1].map { Date.after($0) }
            try require(devices.map(\.firstSeenAt), equals: times, "The times of their first sign-ins")
        },
        check.withAccount("Reports one of twenty concurrent sign-ins from a new family") { stores, account in
            _ = try await stores.records.noteDevice(family: "iPhone", of: account.id, at: .after(0), notice: nil)
            let results = try await concurrently(20) { number in
                try await stores.either(number).records.noteDevice(family: "iPad", of: account.id, at: .after(1), notice: nil)
            }
            try require(results.count { $0 }, equals: 1, "The number of calls that returned true")
        },
        check("Throws for the device of an unknown account") { stores in
            try await requireFailure("noteDevice throws for an unknown account") {
                _ = try await stores.records.noteDevice(family: "iPhone", of: .init(rawValue: UUID()), at: .after(0), notice: nil)
            }
        },
        check.withAccount("Queues the email about a new family of devices only if the family is new") { stores, account in
            for (family, queued) in [("iPhone", 0), ("iPhone", 0), ("iPad", 1), ("iPad", 1), ("Mac", 2)] {
                let subject = MailIntent.Subject.newDevice(account.id, family: family)
                let notice = MailIntent(subject: subject, language: .english, createdAt: .after(1))
                _ = try await stores.records.noteDevice(family: family, of: account.id, at: .after(1), notice: notice)
                try require(try await stores.intents.count(), equals: queued, "The number of intents after \(family)")
            }
        },
        check.withAccount("Stores no new family of devices if its email can't be added") { stores, account in
            _ = try await stores.records.noteDevice(family: "iPhone", of: account.id, at: .after(0), notice: nil)
            let taken = MailIntent(subject: .newDevice(account.id, family: "Mac"), language: .english, createdAt: .after(1))
            try await stores.intents.enqueue(taken)
            try await requireFailure("noteDevice throws if the id of the email is taken") {
                _ = try await stores.records.noteDevice(family: "iPad", of: account.id, at: .after(2), notice: taken)
            }
            try require(try await stores.records.devices(of: account.id).map(\.family), equals: ["iPhone"], "The families")
        },
    ]

    /// Checks of `purgeCandidates`, which returns the accounts that the server removes next. A store must never return an account too
    /// early. Each condition has its own case.
    ///
    /// Common causes of failures:
    /// - *Returns deleted accounts from the time of their removal*: the store applies `limit` before it sorts by id, or its result omits
    ///   former addresses and the recipients of links.
    /// - *Returns accounts that were never verified and not used since a time*: the store ignores the last refresh of a session, treats an
    ///   ended session as a use, or treats deleted accounts as unused accounts. `purge` must check the same conditions again.
    private static let purgeCandidates: [AccountStoreCheck] = [
        check("Returns deleted accounts from the time of their removal, in the order of their ids, with all addresses") {
            stores in
            var accounts: [Account] = []
            for number in 0..<5 {
                let account = try await stores.addAccount("a\(number)@example.com")
                try await stores.delete(account, purgeAt: TimeInterval(10 + number))
                accounts.append(account)
            }
            try await stores.addAccount("kept@example.com")
            let former = FormerAddress(email: try EmailAddress("b@example.com"), replacedAt: .after(1), expiresAt: .after(5))
            _ = try await stores.records.change(accounts[0].id, at: .after(1)) { $0.formerAddresses = [former] }
            let link = StoredLink.sample(.confirmEmail, for: accounts[0], recipient: try EmailAddress("c@example.com"))
            try await stores.records.insert(link)
            for (seconds, count) in [(9.5, 0), (10, 1), (12.5, 3), (99, 5)] {
                for limit in [1, 9] {
                    let found = try await stores.records.purgeCandidates(at: .after(seconds), unverifiedSince: nil, limit: limit)
                    let due = accounts[..<count].sorted { $0.id.description < $1.id.description }
                    try require(found.map(\.id), equals: due.prefix(limit).map(\.id), "The candidates after \(seconds) s")
                }
            }
            let first = try await stores.records.purgeCandidates(at: .after(10), unverifiedSince: nil, limit: 9).first
            let addresses = ["a0@example.com", "b@example.com", "c@example.com"]
            try require(first?.addresses.map(\.text), equals: addresses, "The addresses of a candidate")
        },
        check("Returns accounts that were never verified and not used since a time") { stores in
            let old = try await stores.addUnverified("old@example.com", after: 0)
            _ = try await stores.addUnverified("new@example.com", after: 100)
            try await stores.addAccount("verified@example.com")
            let deleted = try await stores.addUnverified("deleted@example.com", after: 0)
            try await stores.delete(deleted, purgeAt: 1_000)
            let active = try await stores.addUnverified("active@example.com", after: 0)
            try await stores.records.noteActivity(of: active.id, at: .after(100))
            let formerlyActive = try await stores.addUnverified("formerly@example.com", after: 0)
            try await stores.records.noteActivity(of: formerlyActive.id, at: .after(100))
            try await stores.records.noteActivity(of: formerlyActive.id, at: .after(99.5))
            let signedIn = try await stores.addUnverified("session@example.com", after: 0)
            let session = try await OpenedSession(stores, account: signedIn)
            _ = try await session.use(session.first, after: 100)
            let signedOut = try await stores.addUnverified("ended@example.com", after: 0)
            let ended = try await OpenedSession(stores, account: signedOut)
            _ = try await ended.use(ended.first, after: 100)
            try await stores.sessions.end(refresh: ended.first)
            let idle = try await stores.addUnverified("idle@example.com", after: 0)
            let idleSession = try await OpenedSession(stores, account: idle)
            _ = try await idleSession.use(idleSession.first, after: 99.5)
            try await stores.records.noteActivity(of: Account.ID(rawValue: UUID()), at: .after(1))

            let found = try await stores.records.purgeCandidates(at: .after(500), unverifiedSince: .after(100), limit: 99)
            let expected = [old, formerlyActive, signedOut, idle].map(\.id)
            try require(Set(found.map(\.id)), equals: Set(expected), "The candidates")
            let none = try await stores.records.purgeCandidates(at: .after(500), unverifiedSince: nil, limit: 99)
            try require(none.map(\.id), equals: [], "The candidates without a time")
            let ids = [active.id, signedIn.id, deleted.id, idle.id]
            let removed = try await stores.records.purge(ids, after: 500, unverifiedSince: 100)
            try require(removed, equals: [idle.id], "The removed accounts")
        },
    ]

    /// Checks of `purge`, which removes an account with everything that is stored about it, and of the list of removed accounts.
    ///
    /// Common causes of failures:
    /// - *Removes an account with all its data*: the store doesn't delete the rows of a table that has no foreign key. The check can only
    ///   observe data that the stores return. So also search the tables and files of your database for the address and the name.
    /// - *Removes each account once, of ten concurrent callers*: the store reads the accounts before it locks them. Several callers then
    ///   report the removal of the same account.
    private static let purges: [AccountStoreCheck] = [
        check("Removes an account with all its data, and no other account's") { stores in
            let ana = try await FullAccount(stores, "ana@example.com", former: "formerly.ana@example.com")
            let ben = try await FullAccount(stores, "ben@example.com", former: "formerly.ben@example.com")
            // Ben has requested a change to an address of Ana.
            let change = StoredLink.sample(.confirmEmail, for: ben.account, recipient: ana.account.email)
            try await stores.records.insert(change)
            try await stores.delete(ana.account, purgeAt: 10)
            let removed = try await stores.records.purge(
                [ana.account.id, ben.account.id, Account.ID(rawValue: UUID())],
                after: 10
            )
            try require(removed, equals: [ana.account.id], "The removed accounts")
            try await ana.requireRemoved(from: stores.others)
            try await ben.requirePresent(in: stores.others)
            let ended = try await stores.records.find(change.digest, at: .after(2))?.link
            try require(ended, equals: nil, "The link to Ana's address")
            let unlisted = try await stores.others.records.unlistedPurges(limit: 9)
            try require(unlisted, equals: [ListedPurge(id: ana.account.id, purgedAt: .after(10))], "The unlisted removals")
            for email in ["Ana@example.com", "formerly.ana@example.com"] {
                try require(await stores.accounts.insert(try .sample(email)), "The address \(email) is free")
            }
        },
        check.withAccount("Removes no account that was restored meanwhile, unless the removal is forced") { stores, account in
            try await stores.delete(account, purgeAt: 10)
            _ = try await stores.records.change(account.id, at: .after(1)) { $0.account.purgeAt = nil }
            for isForced in [false, true] {
                let removed = try await stores.records.purge([account.id], after: 99, isForced: isForced)
                try require(removed, equals: isForced ? [account.id] : [], "The removed accounts")
                let found = try await stores.accounts.account(id: account.id)
                try require(found == nil, equals: isForced, "Whether the account is gone")
            }
        },
        check("Returns removals until they are marked as listed, and again after another removal of the account") { stores in
            var accounts: [Account] = []
            for number in 0..<3 { accounts.append(try await stores.addAccount("a\(number)@example.com")) }
            for (number, account) in accounts.enumerated() {
                _ = try await stores.records.purge([account.id], after: TimeInterval(number), isForced: true)
            }
            let all = accounts.enumerated().map { ListedPurge(id: $1.id, purgedAt: .after(TimeInterval($0))) }
            try require(try await stores.records.unlistedPurges(limit: 9), equals: all, "The unlisted removals")
            try require(try await stores.records.unlistedPurges(limit: 2), equals: Array(all[..<2]), "Two unlisted removals")
            try await stores.records.markListed([all[0].id, all[2].id])
            try require(try await stores.others.records.unlistedPurges(limit: 9), equals: [all[1]], "The unlisted removals")
            try await stores.records.markListed([])
            // An operator has restored a backup, so the removed account exists again.
            try require(await stores.accounts.insert(accounts[0]), "insert returns true")
            _ = try await stores.records.purge([accounts[0].id], after: 9, isForced: true)
            let again = ListedPurge(id: accounts[0].id, purgedAt: .after(9))
            try require(try await stores.records.unlistedPurges(limit: 9), equals: [all[1], again], "The unlisted removals")
            try await stores.records.scrub()
        },
        check("Removes each account once, of ten concurrent callers") { stores in
            var ids: [Account.ID] = []
            for number in 0..<8 {
                let account = try await stores.addAccount("a\(number)@example.com")
                try await stores.delete(account, purgeAt: 1)
                ids.append(account.id)
            }
            let all = ids
            let removed = try await concurrently(10) { number in
                let order = number.isMultiple(of: 2) ? all : all.reversed()
                return try await stores.either(number / 2).records.purge(order, after: 1)
            }
            let sorted = removed.flatMap { $0 }.map(\.description).sorted()
            try require(sorted, equals: all.map(\.description).sorted(), "The removed accounts of all callers")
        },
        check("Leaves no session of an account that signs in while it is removed, in each of ten rounds") { stores in
            for round in 0..<10 {
                let account = try await stores.addUnverified("a\(round)@example.com", after: 0)
                let session = StoredSession(id: .init(rawValue: UUID()), accountID: account.id, createdAt: .after(200))
                let results = try await concurrently(2) { number in
                    if number == 0 {
                        return try await stores.sessions.open(session, refresh: SecretToken().digest, epoch: 0)
                    }
                    let removed = try await stores.others.records.purge([account.id], after: 200, unverifiedSince: 100)
                    return !removed.isEmpty
                }
                try require(results.count { $0 }, equals: 1, "The number of the two that succeeded")
                let exists = try await stores.accounts.account(id: account.id) != nil
                try require(try await stores.sessions.isAlive(session.id), equals: exists, "Whether the session is alive")
            }
        },
    ]
}

/// An account with data in every store, for checks of its removal.
private struct FullAccount {
    /// The account.
    let account: Account
    /// An open session.
    let session: OpenedSession
    /// A valid reset token.
    let reset: TokenDigest
    /// A valid token that locks the account.
    let lock = SecretToken().digest
    /// Links that were sent to the current, a former and a later address of the account, and links of registrations with these addresses.
    let links: [StoredLink]
    /// Emails in the queue that name the account or one of its addresses.
    let intents: [MailIntent]
    /// The id of a reset email that was sent.
    private let sent = UUID()
    /// Bounds that admit one reset email per account. A refused reservation then shows that the store still counts the sent email.
    private static let bounds = ResetMailBounds(
        perAccount: RateLimitPolicy(name: "account", quota: 1, window: .seconds(1_000))
    )

    /// Adds the account and its data.
    init(_ stores: StoresUnderTest, _ email: String, former: String) async throws {
        let added = try await stores.addAccount(former)
        try await stores.move(added, to: email, until: 1_000)
        account = try await stores.stored(added)
        session = try await OpenedSession(stores, account: account)
        reset = try await stores.mint(for: account)
        try await stores.accountLockTokens.insert(lock, account: account.id, expiresAt: .after(1_000))
        let formerAddress = try EmailAddress(former.uppercased())
        links = [
            .sample(.confirmEmail, for: account, recipient: try EmailAddress("later.\(email)")),
            .sample(.undoEmail, for: account, recipient: formerAddress), try .registration(of: email.uppercased()),
            try .registration(of: former),
        ]
        for link in links { try await stores.records.insert(link) }
        _ = try await stores.records.noteDevice(family: "iPhone", of: account.id, at: .after(1), notice: nil)
        try await stores.records.noteActivity(of: account.id, at: .after(3))
        // The store ignores this time, because it is less than an hour after the stored time.
        try await stores.records.noteActivity(of: account.id, at: .after(3_602))
        let subjects: [MailIntent.Subject] = [
            .passwordReset(try EmailAddress(email.uppercased())), .verification(formerAddress), .passwordChanged(account.id),
            .registration(account.email, account.firstName), .newDevice(account.id, family: "iPad"),
            .emailChange(account.id, to: try EmailAddress("later.\(email)")), .formerAccountDeleted(account.id, formerAddress),
        ]
        intents = subjects.map { MailIntent(subject: $0, language: .english, createdAt: .after(1)) }
        for intent in intents { try await stores.intents.enqueue(intent) }
        _ = try await stores.sentResets.reserve(sent, for: account.id, within: Self.bounds, at: .after(1))
        try await stores.audit.append([AuditEvent(kind: .signedIn, accountID: account.id, time: .after(1), origin: .current)])
    }

    /// Requires that the store still has all data of the account, except the sessions and links that a change of the account ends.
    func requirePresent(in stores: any AccountStores) async throws {
        try require(try await stores.accounts.account(id: account.id), equals: account, "The account")
        try require(await session.isAlive, "The session is alive")
        try require(await stores.isLive(reset), "The reset link is live")
        try require(try await stores.account(ofLock: lock, after: 11), equals: account, "The account of the lock token")
        for link in links {
            try require(try await stores.records.find(link.digest, at: .after(11))?.link, equals: link, "The link")
        }
        try require(try await queued(in: stores), equals: Set(intents.map(\.id)), "The emails to send")
        try require(try await stores.records.devices(of: account.id).count, equals: 1, "The number of devices")
        try require(try await stores.audit.events(of: account.id, limit: 9).count, equals: 1, "The number of events")
        let decision = try await stores.sentResets.reserve(UUID(), for: account.id, within: Self.bounds, at: .after(2))
        try require(decision, equals: .accountExceeded, "The decision about another reset email")
        let remainder = try await stores.records.remainder(of: account)
        try require(remainder, equals: self.remainder, "What else is stored about the account")
    }

    /// Requires that the store has no data about the account.
    func requireRemoved(from stores: any AccountStores) async throws {
        try require(try await stores.accounts.account(id: account.id), equals: nil, "The account by its id")
        try require(try await stores.accounts.account(email: account.email), equals: nil, "The account by its address")
        try require(try await stores.records.record(of: account.id, at: .after(1)), equals: nil, "The record")
        try require(await !session.isAlive, "The session has ended")
        try require(try await session.use(session.first, after: 2).outcome, equals: .refused, "The use of a refresh token")
        try require(try await stores.sessions.sessions(of: account.id, limit: .max), equals: [], "The sessions")
        try require(await !stores.isLive(reset), "The reset link is not live")
        try require(try await stores.resetTokens.tokens(of: account.id), equals: [], "The reset links")
        try require(try await stores.account(ofLock: lock, after: 2), equals: nil, "The account of the lock token")
        for link in links {
            try require(try await stores.records.find(link.digest, at: .after(2))?.link, equals: nil, "The link")
        }
        try require(try await queued(in: stores), equals: [], "The emails to send")
        try require(try await stores.records.devices(of: account.id).map(\.family), equals: [], "The devices")
        try require(try await stores.audit.events(of: account.id, limit: 9), equals: [], "The events")
        let nothing = AccountRemainder(activeAt: nil, lockLinkExpiries: [], queuedEmails: [], resetEmailTimes: [])
        try require(try await stores.records.remainder(of: account), equals: nothing, "What else is stored about the account")
        // A store may refuse to count emails of an unknown account.
        let decision = try? await stores.sentResets.reserve(UUID(), for: account.id, within: Self.bounds, at: .after(2))
        if decision == .accountExceeded { throw Difference(description: "The sent reset emails of a removed account count") }
    }

    /// The data that a store returns about the account in addition to the account's record, sessions, devices, reset links and events. Of
    /// the queued emails, it contains only emails to the current address.
    private var remainder: AccountRemainder {
        let kinds = intents.filter { ($0.subject.recipient ?? account.email) == account.email }.sorted { $0.id.text < $1.id.text }
        return AccountRemainder(
            activeAt: .after(3),
            lockLinkExpiries: [.after(1_000)],
            queuedEmails: kinds.map { .init(kind: $0.subject.kind, createdAt: .after(1)) },
            resetEmailTimes: [.after(1)]
        )
    }

    /// Returns the ids of the account's emails in the queue.
    private func queued(in stores: any AccountStores) async throws -> Set<MailIntent.ID> {
        Set(try await stores.intents.mails(limit: 99).map(\.id)).intersection(intents.map(\.id))
    }
}

extension AccountStores {
    /// Changes the address of an account, and stores the replaced address as a former address if `expiry` isn't `nil`.
    /// - Parameters:
    ///   - account: The account.
    ///   - email: The new address.
    ///   - seconds: The time of the change, in seconds after `Date.after(0)`.
    ///   - expiry: The time at which the former address expires; `nil` to store no former address.
    /// - Returns: `true`.
    /// - Throws: `AccountError.emailExists` if the address is taken; `Difference` if the account no longer exists.
    @discardableResult
    public func move(_ account: Account, to email: String, at seconds: TimeInterval = 1, until expiry: TimeInterval? = nil)
        async throws
        -> Bool
    {
        let address = try EmailAddress(email)
        let value = try await records.change(account.id, at: .after(seconds)) { record in
            if let expiry, record.account.email != address {
                record.formerAddresses.append(
                    FormerAddress(email: record.account.email, replacedAt: .after(seconds), expiresAt: .after(expiry))
                )
            }
            record.account.email = address
            return true
        }
        guard let value else { throw Difference(description: "The account \(account.email.text) is gone") }
        return value
    }

    /// Marks an account as deleted, so that the server removes it at a later time.
    fileprivate func delete(_ account: Account, purgeAt seconds: TimeInterval) async throws {
        _ = try await records.change(account.id, at: .after(1)) { $0.account.purgeAt = .after(seconds) }
    }

    /// Adds an account whose address is not verified.
    fileprivate func addUnverified(_ email: String, after seconds: TimeInterval) async throws -> Account {
        var account = try Account.sample(email)
        (account.isEmailVerified, account.createdAt) = (false, .after(seconds))
        try require(await accounts.insert(account), "An account with a free address is added")
        return account
    }
}

extension AccountRecordStore {
    /// Removes accounts with all their data, like `purge(_:at:unverifiedSince:isForced:)`.
    /// - Parameters:
    ///   - ids: The ids of the accounts.
    ///   - seconds: The time of the removal, in seconds after `Date.after(0)`.
    ///   - cutoff: The time since which an unverified account must be unused; `nil` to remove only deleted accounts.
    ///   - isForced: Whether accounts are removed in any state.
    fileprivate func purge(
        _ ids: [Account.ID],
        after seconds: TimeInterval,
        unverifiedSince cutoff: TimeInterval? = nil,
        isForced: Bool = false
    ) async throws -> [Account.ID] {
        try await purge(ids, at: .after(seconds), unverifiedSince: cutoff.map { Date.after($0) }, isForced: isForced)
    }
}

extension StoredLink {
    /// Returns a new link of an account. The link is valid for an hour.
    /// - Parameters:
    ///   - purpose: The purpose.
    ///   - account: The account.
    ///   - recipient: The recipient; the address of the account if `nil`.
    ///   - epoch: The epoch that the account must have when the link is used.
    ///   - seconds: The time of the creation, in seconds after `Date.after(0)`.
    public static func sample(
        _ purpose: AccountLink.Purpose,
        for account: Account,
        recipient: EmailAddress? = nil,
        epoch: Int = 0,
        after seconds: TimeInterval = 0
    ) -> StoredLink {
        StoredLink(
            digest: SecretToken().digest,
            purpose: purpose,
            accountID: account.id,
            recipient: recipient ?? account.email,
            epoch: epoch,
            language: account.language,
            createdAt: .after(seconds),
            expiresAt: .after(seconds + 3_600)
        )
    }

    /// Returns a new link with which a user creates an account. The link is valid for an hour.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - name: The first name, which is not validated.
    ///   - language: The language.
    public static func registration(of email: String, name: String = "Ana", language: Language = .english) throws -> StoredLink {
        StoredLink(
            digest: SecretToken().digest,
            purpose: .activate,
            accountID: nil,
            recipient: try EmailAddress(email),
            firstName: try FirstName(stored: name),
            language: language,
            createdAt: .after(0),
            expiresAt: .after(3_600)
        )
    }
}

extension AccountRecord.Effects.SessionEnd {
    /// The name of the case in the description of a check.
    fileprivate var name: String {
        switch self {
        case .none: "no"
        case .all: "all"
        case .others: "other"
        }
    }
}
