import AccountContract
import AccountCore
import ErrorContract
import Foundation

extension AccountStoreCheck {
    /// Checks of `AccountRepository`. Two accounts can't have the same address, even if the addresses differ in uppercase and lowercase
    /// letters. An insert is atomic. A change of an account's state ends the sessions of the account and invalidates its links.
    ///
    /// The first group checks that a store returns values exactly as they were stored. The second group checks inserts and replaced
    /// password hashes. The third group checks changes of an account's state.
    public static let accounts = accountsAsStored + accountsAdded + accountStates

    /// Checks that a store returns each field of an account exactly as it was stored, with one check for each state of an account.
    ///
    /// The values contain a non-ASCII domain, an emoji, quotes and a semicolon. A store fails if it builds SQL from strings, or uses a text
    /// encoding without these characters.
    ///
    /// A store also fails if it stores only the normalized address. Lookups ignore case, but the server must send emails to the address as
    /// the user typed it.
    private static let accountsAsStored: [AccountStoreCheck] = Account.State.allCases.map { state in
        check("Returns an account that is \(state.rawValue) unchanged, by address in any case and by id") { stores in
            var account = try Account.sample("Ana.Test+x@Exämple.com", state: state, language: Language("es-MX"))
            account.epoch = 7
            (account.isEmailVerified, account.purgeAt) = (state == .active, state == .active ? nil : .after(5))
            account.firstName = try FirstName(stored: "Ana 🐦 O'Brien\";--")
            account.passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"
            try require(await stores.accounts.insert(account), "The account is added")
            for found in [
                try await stores.accounts.account(id: account.id),
                try await stores.accounts.account(email: try EmailAddress("ana.test+X@EXÄMPLE.com")),
            ] {
                try require(found, equals: account, "The account")
                try require(found?.email.text, equals: "Ana.Test+x@xn--exmple-cua.com", "The address as it was typed")
            }
        }
    }

    /// Checks of single, bulk and concurrent inserts, of lookups, of the order in which the store lists accounts, and of replaced password
    /// hashes.
    ///
    /// Common causes of failures:
    /// - *Refuses a taken address*: the unique index compares bytes instead of the normalized address.
    /// - *Throws for a taken id*: an "insert or ignore" hides the conflict of the id. An insert may return `false` only if the address is
    ///   taken.
    /// - *Queues the email about a new account only if the account is added*: the store adds the email for a taken address.
    /// - *Adds no account if its email can't be added*: the store writes the account and the email in two transactions.
    /// - *Adds one account of fifty concurrent ones*: the store reads before it writes. Only a unique constraint of the database can decide
    ///   about a taken address; otherwise, two of the fifty inserts succeed.
    /// - *Adds none of many accounts if one has a taken id*: the bulk insert isn't one transaction.
    /// - *Refuses a taken address, even if the id is taken by another account*: the store recognizes a repeated insert only by the id.
    /// - *Replaces a hash unless the password has changed meanwhile*: the update doesn't compare the old hash. A sign-in that began before
    ///   a change of the password would then overwrite the new password. The account's epoch must stay unchanged, because a new hash of the
    ///   same password must not end sessions.
    private static let accountsAdded: [AccountStoreCheck] = [
        check("Finds nothing by another address or id") { stores in
            try await stores.addAccount()
            try require(try await stores.accounts.account(email: try EmailAddress("ana@example.org")), equals: nil, "The account")
            try require(try await stores.accounts.account(id: .init(rawValue: UUID())), equals: nil, "The account")
        },
        check("Refuses a taken address, in whatever case it is written") { stores in
            let first = try await stores.addAccount("Ana@example.com")
            for email in ["ana@example.com", "ANA@Example.COM"] {
                try require(await !stores.accounts.insert(try .sample(email)), "insert returns false for \(email)")
            }
            try require(try await stores.accounts.accounts(), equals: [first], "The list of accounts")
        },
        check("Throws for a taken id") { stores in
            let first = try await stores.addAccount()
            let second = try Account.sample("bob@example.com", id: first.id)
            try await requireFailure("insert throws for a taken id") { _ = try await stores.accounts.insert(second) }
            try require(try await stores.accounts.accounts(), equals: [first], "The list of accounts")
        },
        check("Queues the email about a new account only if the account is added") { stores in
            for (email, isAdded, queued) in [
                ("ana@example.com", true, 1), ("ANA@example.com", false, 1), ("ben@example.com", true, 2),
            ] {
                let account = try Account.sample(email)
                let notice = MailIntent(subject: .verification(account.email), language: .english, createdAt: .after(1))
                let result = try await stores.accounts.insert(account, notice: notice)
                try require(result, equals: isAdded, "What insert returns for \(email)")
                try require(try await stores.intents.count(), equals: queued, "The number of intents after \(email)")
            }
        },
        check("Adds no account if its email can't be added") { stores in
            let account = try Account.sample()
            let taken = MailIntent(subject: .verification(account.email), language: .english, createdAt: .after(1))
            try await stores.intents.enqueue(taken)
            try await requireFailure("insert throws if the id of the email is taken") {
                _ = try await stores.accounts.insert(account, notice: taken)
            }
            try require(try await stores.accounts.accounts(), equals: [], "The list of accounts")
            try require(await stores.accounts.insert(account), "The address is still free")
        },
        check("Adds one account of fifty concurrent ones with one address") { stores in
            let results = try await concurrently(50) { number in
                let email = number.isMultiple(of: 2) ? "ana@example.com" : "ANA@example.com"
                return try await stores.either(number / 2).accounts.insert(try .sample(email))
            }
            try require(results.count { $0 }, equals: 1, "The number of inserts that returned true")
            try require(try await stores.accounts.accounts().count, equals: 1, "The number of accounts")
        },
        check("Lists accounts oldest first") { stores in
            for seconds in [3.0, 1, 2] {
                var account = try Account.sample("a\(Int(seconds))@example.com")
                account.createdAt = .after(seconds)
                _ = try await stores.accounts.insert(account)
            }
            let emails = try await stores.accounts.accounts().map(\.email.text)
            try require(emails, equals: ["a1@example.com", "a2@example.com", "a3@example.com"], "The addresses")
        },
        check("Adds many accounts at once except those with taken addresses, and counts hashes of other systems") { stores in
            try await stores.addAccount()
            var some = try ["ana@example.com", "ben@example.com", "BEN@example.com", "cleo@example.com", "dora@example.com"]
                .map { try Account.sample($0) }
            some[1].passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$AAAA$AAAA"
            some[3].passwordHash = "older hash"
            some[4].passwordHash = Account.unusablePassword
            let added = try await stores.accounts.insert(contentsOf: some)
            try require(added, equals: [some[1].id, some[3].id, some[4].id], "The ids of the added accounts")
            let (counts, total) = try await stores.accounts.countForeignHashes { $0.hasPrefix("old") ? "old" : nil }
            try require(counts, equals: ["old": 2], "The number of foreign hashes by kind")
            try require(total, equals: 4, "The number of accounts")
        },
        check("Stores the event of each account that it adds, and no other event") { stores in
            let present = try await stores.addAccount()
            let some = try ["ana@example.com", "ben@example.com", "BEN@example.com", "cleo@example.com"]
                .map { try Account.sample($0) }
            let added = try await stores.accounts.insert(contentsOf: some, event: .imported)
            try require(added, equals: [some[1].id, some[3].id], "The ids of the added accounts")
            for account in some + [present] {
                let event = AuditEvent(kind: .imported, accountID: account.id, time: account.createdAt, origin: .none)
                let stored = try await stores.others.audit.events(of: account.id, limit: 9)
                try require(stored, equals: added.contains(account.id) ? [event] : [], "The events of \(account.email.text)")
            }
            let last = try Account.sample("dora@example.com")
            try require(try await stores.accounts.insert(contentsOf: [last]), equals: [last.id], "The ids without an event")
            try require(try await stores.audit.events(of: last.id, limit: 9), equals: [], "The events without an event")
        },
        check("Adds none of many accounts if one has a taken id") { stores in
            let first = try await stores.addAccount()
            let taken = try Account.sample("bob@example.com", id: first.id)
            let new = try Account.sample("ben@example.com")
            try await requireFailure("insert throws for a taken id") {
                _ = try await stores.accounts.insert(contentsOf: [new, taken], event: .imported)
            }
            try require(try await stores.accounts.accounts(), equals: [first], "The list of accounts")
            try require(try await stores.audit.events(of: first.id, limit: 9), equals: [], "The events")
        },
        check("Refuses a taken address, even if the id is taken by another account") { stores in
            let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
            let refused = try Account.sample("BEN@example.com", id: ana.id)
            try require(await !stores.accounts.insert(refused), "insert returns false")
            let new = try Account.sample("cleo@example.com")
            let added = try await stores.accounts.insert(contentsOf: [refused, new], event: .imported)
            try require(added, equals: [new.id], "The ids of the added accounts")
            for account in [ana, ben, new] {
                try require(try await stores.others.accounts.account(email: account.email), equals: account, "The account")
            }
            try require(try await stores.audit.events(of: ana.id, limit: 9), equals: [], "The events of the account with the id")
        },
        check.withAccount("Replaces a hash unless the password has changed meanwhile") { stores, account in
            let other = try await stores.addAccount("bob@example.com")
            try await stores.accounts.rehash(account.id, from: "another hash", to: "new hash")
            try require(try await stores.stored(account).passwordHash, equals: "old hash", "The hash")
            try await stores.accounts.rehash(account.id, from: "old hash", to: "new hash")
            try require(try await stores.stored(account).passwordHash, equals: "new hash", "The hash")
            try require(try await stores.stored(account).epoch, equals: 0, "The epoch, which ends sessions,")
            try require(try await stores.stored(other), equals: other, "The other account")
        },
    ]

    /// Checks that a store which suspends or deactivates an account also removes its sessions, reset links and lock tokens in the same
    /// transaction. Other accounts must not be affected.
    ///
    /// Each change raises the account's epoch, a counter that the store compares before it opens a session. If a sign-in verified the
    /// password before the change, the store therefore refuses to open a session after the change. The links must stay invalid when the
    /// account becomes active again. Therefore, a store must delete the links or mark them as used. It is not enough to check the account's
    /// state when a link is used.
    ///
    /// If the account already has the new state, the store changes nothing and returns `true`. If the account is unknown, the store returns
    /// `false`. The store adds the audit event of the change only if the state changes.
    private static let accountStates: [AccountStoreCheck] =
        [Account.State.suspended, .inactive].map { state in
            check("Ends sessions and links of an account that becomes \(state.rawValue), and raises its epoch") { stores in
                let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
                let tokens = [try await stores.mint(for: ana), try await stores.mint(for: ben)]
                let sessions = [try await OpenedSession(stores, account: ana), try await OpenedSession(stores, account: ben)]
                let lock = TokenDigest(of: "freeze")
                try await stores.accountLockTokens.insert(lock, account: ana.id, expiresAt: .after(60))
                try require(await stores.accounts.setState(state, of: ana.id), "setState returns true")
                try require(try await stores.stored(ana).state, equals: state, "The state")
                try require(try await stores.stored(ana).epoch, equals: 1, "The epoch")
                try require(await !sessions[0].isAlive, "The account's session has ended")
                try require(await sessions[1].isAlive, "Another account's session continues")
                try require(await stores.accounts.setState(.active, of: ana.id), "setState returns true")
                try require(
                    await !stores.isLive(tokens[0]),
                    "The account's link has ended, also once the account is active again"
                )
                try require(await stores.isLive(tokens[1]), "Another account's link works")
                try require(try await stores.account(ofLock: lock, after: 1), equals: nil, "The account of its lock token")
                try require(try await stores.stored(ana).epoch, equals: 2, "The epoch")
                try require(try await stores.stored(ben).epoch, equals: 0, "The epoch of another account")
            }
        } + [
            check("Changes nothing for the state that an account has, and reports an unknown account") { stores in
                let account = try await stores.addAccount()
                try require(await stores.accounts.setState(.active, of: account.id), "setState returns true")
                try require(try await stores.stored(account), equals: account, "The account")
                let isKnown = try await stores.accounts.setState(.active, of: Account.ID(rawValue: UUID()))
                try require(!isKnown, "setState returns false for an unknown account")
            },
            check.withAccount("Stores the event of a change of the state, and none without a change") { stores, account in
                let event = AuditEvent(kind: .suspended, accountID: account.id, time: .after(1), origin: .none)
                for attempt in ["the first", "the second"] {
                    let isKnown = try await stores.accounts.setState(.suspended, of: account.id, event: event)
                    try require(isKnown, "setState returns true")
                    let stored = try await stores.others.audit.events(of: account.id, limit: 9)
                    try require(stored, equals: [event], "The events after \(attempt) call")
                }
                try require(await stores.accounts.setState(.active, of: account.id), "setState returns true")
                let stored = try await stores.audit.events(of: account.id, limit: 9)
                try require(stored, equals: [event], "The events after a change without an event")
            },
        ]

    /// Creates checks whose descriptions begin with `accounts:`.
    private static let check = CheckBuilder(store: "accounts")
    /// Creates checks whose descriptions begin with `decoys:`.
    private static let decoyCheck = CheckBuilder(store: "decoys")

    /// Checks of `DecoyStore`. If an address has no account, the server verifies the password against a decoy: a password hash that belongs
    /// to no account. Each stored `DecoySpan` assigns one decoy to a part of all possible addresses. All processes must read the same
    /// spans. The store must apply concurrent changes one after another, so that no change is lost.
    ///
    /// `renewDecoys` reads the spans, calls a closure that returns the new spans, and writes the new spans. A store must either lock the
    /// spans before it reads them, or call the closure again after a conflict. Therefore, the closure must have no side effects.
    public static let decoys: [AccountStoreCheck] = [
        decoyCheck("Stores decoys, and returns the same to every process") { stores in
            let (store, other) = (stores.decoys, stores.others.decoys)
            try require(try await store.renewDecoys { $0 }, equals: [], "The spans of a new store")
            let spans = [
                DecoySpan(decoy: "costly", start: 0, width: 0.1, reach: 0.3),
                DecoySpan(decoy: "bcrypt", start: 0.3, width: 0.2, reach: 0.2),
            ]
            try require(try await store.renewDecoys { _ in spans }, equals: spans, "The new spans")
            try require(try await other.renewDecoys { $0 }, equals: spans, "The spans that another process reads")
            let fewer = try await other.renewDecoys { Array($0.dropFirst()) }
            try require(fewer, equals: [spans[1]], "The spans without the first")
            try require(try await store.renewDecoys { $0 }, equals: fewer, "The spans that this process reads")
        },
        decoyCheck("Applies forty concurrent changes one after another") { stores in
            _ = try await concurrently(40) { number in
                try await stores.either(number).decoys.renewDecoys {
                    $0 + [DecoySpan(decoy: "\(number)", start: 0, width: 0, reach: 0)]
                }
            }
            let decoys = try await stores.decoys.renewDecoys { $0 }.map(\.decoy)
            try require(decoys.count, equals: 40, "The number of spans")
            try require(Set(decoys).count, equals: 40, "The number of different spans")
        },
    ]
}
