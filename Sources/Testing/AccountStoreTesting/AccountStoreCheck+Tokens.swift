import AccountContract
import AccountCore
import ErrorContract
import Foundation

extension AccountStoreCheck {
    /// Checks of `ResetTokenStore`: lookup and expiry, the single use of a token, and the removal of old tokens.
    ///
    /// A store contains only the digests of tokens, so the checks compare digests and never tokens.
    public static let resetTokens = lookups + confirmations + tokenRemovals

    /// Creates checks whose descriptions begin with `resetTokens:`.
    private static let check = CheckBuilder(store: "resetTokens")
    /// Creates checks whose descriptions begin with `freezeTokens:`.
    private static let lockCheck = CheckBuilder(store: "freezeTokens")

    /// Checks of `find`, `insert` and `hasExpired`.
    ///
    /// A lookup must not consume a token, because email scanners open links. Exactly an hour after its creation, a token is already
    /// expired. `hasExpired` returns `true` only for an unused token, so that the server can show different pages for expired links and for
    /// used links.
    ///
    /// Common causes of failures:
    /// - *Finds a live token with its account repeatedly*: the lookup marks the token as used.
    /// - *Throws for the token of an unknown account*: the table has no foreign key.
    /// - *Reports expiry only of unused tokens*: `hasExpired` compares only the time.
    private static let lookups: [AccountStoreCheck] =
        [
            check("Finds a live token with its account repeatedly") { stores in
                let account = try await stores.addAccount("Ana@example.com")
                let token = try await stores.mint(for: account, after: 5)
                for _ in 0..<3 {
                    guard let found = try await stores.resetTokens.find(token, at: .after(10)) else {
                        throw Difference(description: "find returns nil for a live token")
                    }
                    try require(found.account, equals: account, "The account")
                    try require(found.token.digest, equals: token, "The digest")
                    try require(found.token.accountID, equals: account.id, "The id of the account")
                    try require(found.token.createdAt, equals: .after(5), "The time of its creation")
                    try require(found.token.expiresAt, equals: .after(3_605), "The time of its expiry")
                }
            },
            check.withAccount("Finds no unknown token") { stores, account in
                _ = try await stores.mint(for: account)
                try require(await !stores.isLive(SecretToken().digest), "find returns nil")
                try require(await !stores.confirm(SecretToken().digest, of: account), "confirm returns false")
                try require(await !stores.hasExpired(SecretToken().digest, after: 9_999), "hasExpired returns false")
                try require(try await stores.stored(account), equals: account, "The account")
                try require(try await stores.intents.count(), equals: 0, "The number of emails to send")
            },
            check("Throws for the token of an unknown account") { stores in
                let nobody = try Account.sample()
                try await requireFailure("insert throws for an unknown account") {
                    try await stores.resetTokens.insert(.sample(for: nobody), liveLimit: 3)
                }
            },
            check.withAccount("Reports expiry only of unused tokens") { stores, account in
                let (used, unused) = (try await stores.mint(for: account), try await stores.mint(for: account, after: 10))
                try require(await !stores.hasExpired(unused, after: 3_609), "hasExpired returns false for a live token")
                try require(await stores.hasExpired(unused, after: 3_610), "hasExpired returns true for an expired token")
                try require(await stores.confirm(used, of: account), "confirm returns true")
                try require(await !stores.hasExpired(used, after: 9_999), "hasExpired returns false for a used token")
            },
        ]
        + [(3_599.9, true), (3_600, false), (1e9, false)].map { seconds, isLive in
            check("\(isLive ? "Accepts" : "Refuses") a token \(seconds) s after its creation, if it lives for an hour") {
                stores in
                let account = try await stores.addAccount()
                let token = try await stores.mint(for: account)
                try require(try await stores.isLive(token, after: seconds), equals: isLive, "Whether find returns it")
                try require(try await stores.confirm(token, of: account, after: seconds), equals: isLive, "What confirm returns")
            }
        }

    /// Checks of `confirm`, which makes five changes in one transaction: it consumes the token, stores the password hash, raises the
    /// account's epoch (a counter that invalidates earlier sign-ins), ends all sessions and other tokens of the account, and adds the
    /// confirmation email to the queue. If one change fails, the store must make none of them.
    ///
    /// Common causes of failures:
    /// - *Changes nothing if the intent can't be added*: the store adds the email in a second transaction. After a crash between the two
    ///   transactions, the password would be changed without an email to the owner.
    /// - *Accepts one of fifty concurrent confirms*: the store reads the token and deletes it later. The statement that consumes the token
    ///   must itself decide which call succeeds. The check has twenty rounds, because the fault may not appear in the first round.
    /// - *Accepts one of an account's tokens if they are confirmed concurrently*: the store locks the token instead of the account.
    /// - *Finds and consumes no token of an account that is suspended*: the store doesn't check the state of the account, or consumes the
    ///   token before the check.
    /// - *Raises the epoch to the given number*: the store always adds 1 to the epoch, or sets an epoch that is lower than before.
    private static let confirmations: [AccountStoreCheck] =
        [
            check.withAccount("Consumes a token once, which sets the password and raises the epoch") { stores, account in
                let other = try await stores.addAccount("bob@example.com")
                let token = try await stores.mint(for: account)
                try require(await stores.confirm(token, of: account), "confirm returns true")
                var expected = account
                (expected.passwordHash, expected.epoch) = ("new hash", 1)
                try require(try await stores.stored(account), equals: expected, "The account")
                try require(try await stores.stored(other), equals: other, "Another account")
                try require(await !stores.isLive(token), "The token is not live")
                try require(await !stores.confirm(token, of: account, after: 2), "A second confirm returns false")
                try require(try await stores.stored(account).epoch, equals: 1, "The epoch after a second confirm")
                try require(try await stores.intents.count(), equals: 1, "The number of emails to send")
            },
            check.withAccount("Raises the epoch to the given number, or by one if it isn't higher") { stores, account in
                for (given, expected) in [(7, 7), (7, 8), (3, 9), (10, 10)] {
                    let token = try await stores.mint(for: account)
                    try require(await stores.confirm(token, of: account, epoch: given), "confirm returns true")
                    try require(try await stores.stored(account).epoch, equals: expected, "The epoch")
                }
            },
            check("Marks the address as verified") { stores in
                var account = try Account.sample()
                account.isEmailVerified = false
                try require(await stores.accounts.insert(account), "The account is added")
                let token = try await stores.mint(for: account)
                try require(await stores.confirm(token, of: account), "confirm returns true")
                try require(await stores.stored(account).isEmailVerified, "The address is verified")
            },
            check("Finds and consumes no reset or lock token of a deleted account, until it is restored") { stores in
                let account = try await stores.addAccount()
                let token = try await stores.mint(for: account)
                let lock = SecretToken().digest
                try await stores.accountLockTokens.insert(lock, account: account.id, expiresAt: .after(60))
                _ = try await stores.records.change(account.id, at: .after(1)) { $0.account.purgeAt = .after(9_999) }
                try require(await !stores.isLive(token), "The reset token is not live")
                try require(await !stores.confirm(token, of: account), "confirm returns false")
                try require(try await stores.account(ofLock: lock, after: 1), equals: nil, "The account of the lock token")
                try require(await !stores.accountLockTokens.lock(lock, at: .after(1)), "lock returns false")
                _ = try await stores.records.change(account.id, at: .after(1)) { $0.account.purgeAt = nil }
                try require(try await stores.stored(account), equals: account, "The account")
                try require(await stores.isLive(token), "The reset token is live")
                try require(await stores.accountLockTokens.lock(lock, at: .after(1)), "lock returns true")
            },
            check.withAccount("Finds no token that was sent to an earlier address") { stores, account in
                let token = try await stores.mint(for: account)
                try await stores.move(account, to: "new@example.com")
                try require(await !stores.isLive(token), "The token is not live")
                try require(await !stores.confirm(token, of: account), "confirm returns false")
            },
            check("Lists the tokens of an account, used or not, newest first") { stores in
                let (ana, ben) = (try await stores.addAccount(), try await stores.addAccount("ben@example.com"))
                try require(try await stores.resetTokens.tokens(of: ana.id), equals: [], "The tokens")
                let tokens = [2.0, 3, 1].map { StoredResetToken.sample(for: ana, after: $0) }
                for token in tokens { try await stores.resetTokens.insert(token, liveLimit: 9) }
                _ = try await stores.mint(for: ben)
                try require(await stores.confirm(tokens[0].digest, of: ana), "confirm returns true")
                let found = try await stores.resetTokens.tokens(of: ana.id)
                try require(found, equals: [tokens[1], tokens[0], tokens[2]], "The tokens")
            },
            check.withAccount("Ends the account's other tokens and sessions, and no other account's") { stores, account in
                let other = try await stores.addAccount("bob@example.com")
                let tokens = [try await stores.mint(for: account), try await stores.mint(for: account)]
                let foreign = try await stores.mint(for: other)
                let sessions = [
                    try await OpenedSession(stores, account: account), try await OpenedSession(stores, account: account),
                ]
                let foreignSession = try await OpenedSession(stores, account: other)
                try require(await stores.confirm(tokens[0], of: account), "confirm returns true")
                for token in tokens { try require(await !stores.isLive(token), "No token of the account is live") }
                for session in sessions {
                    try require(await !session.isAlive, "No session of the account is alive")
                    try require(try await session.use(session.first, after: 2).outcome, equals: .refused, "The use of its token")
                }
                try require(await stores.isLive(foreign), "Another account's token is live")
                try require(await foreignSession.isAlive, "Another account's session is alive")
            },
            check("Adds the intent of the confirmation email, due immediately") { stores in
                let account = try await stores.addAccount(language: .spanish)
                let token = try await stores.mint(for: account)
                let id = UUID()
                try require(await stores.confirm(token, of: account, after: 7, intentID: id), "confirm returns true")
                let intents = try await stores.intents.claim(10, after: 7, until: 100)
                let expected = MailIntent(
                    id: id,
                    subject: .passwordChanged(account.id),
                    language: .spanish,
                    createdAt: .after(7)
                )
                try require(intents, equals: [expected], "The emails to send")
            },
            check.withAccount("Changes nothing if the intent can't be added") { stores, account in
                let tokens = [try await stores.mint(for: account), try await stores.mint(for: account)]
                let session = try await OpenedSession(stores, account: account)
                let id = UUID()
                try await stores.intents.enqueue(
                    MailIntent(id: id, subject: .passwordChanged(account.id), language: .english, createdAt: .after(1))
                )
                try await requireFailure("confirm throws for a taken id of the intent") {
                    _ = try await stores.confirm(tokens[0], of: account, after: 1, intentID: id)
                }
                try require(try await stores.stored(account), equals: account, "The account")
                for token in tokens { try require(await stores.isLive(token), "The tokens are live") }
                try require(await session.isAlive, "The session is alive")
                try require(try await stores.intents.count(), equals: 1, "The number of emails to send")
                try require(await stores.confirm(tokens[0], of: account), "The token works afterwards")
            },
            check("Accepts one of fifty concurrent confirms, in each of twenty rounds") { stores in
                for round in 1...20 {
                    let account = try await stores.addAccount("ana\(round)@example.com")
                    let token = try await stores.mint(for: account)
                    let results = try await concurrently(50) { try await stores.either($0).confirm(token, of: account) }
                    try require(results.count { $0 }, equals: 1, "The number of winners")
                    try require(try await stores.stored(account).epoch, equals: 1, "The epoch")
                    try require(try await stores.intents.count(), equals: round, "The number of emails to send")
                }
            },
            check.withAccount("Accepts one of an account's tokens if they are confirmed concurrently") { stores, account in
                var tokens: [TokenDigest] = []
                for _ in 0..<3 { tokens.append(try await stores.mint(for: account)) }
                let siblings = tokens
                let results = try await concurrently(30) { try await stores.either($0).confirm(siblings[$0 % 3], of: account) }
                try require(results.count { $0 }, equals: 1, "The number of winners")
                try require(try await stores.intents.count(), equals: 1, "The number of emails to send")
            },
        ]
        + [Account.State.suspended, .inactive].map { state in
            check("Finds and consumes no token of an account that is \(state.rawValue)") { stores in
                let account = try await stores.addAccount(state: state)
                let token = try await stores.mint(for: account)
                try require(await !stores.isLive(token), "find returns nil")
                try require(await !stores.confirm(token, of: account), "confirm returns false")
                try require(try await stores.stored(account), equals: account, "The account")
                try require(try await stores.intents.count(), equals: 0, "The number of emails to send")
                _ = try await stores.accounts.setState(.active, of: account.id)
                try require(await stores.confirm(token, of: account), "The attempts did not consume the token")
            }
        }

    /// Checks of `prune`, `discard`, `sweep` and the limit of valid tokens per account.
    ///
    /// If the server can't deliver the email with the newest link, an older link that the user has received must stay valid. Therefore, the
    /// caller passes the token of a delivered link to `prune`, and `prune` ignores all tokens that are newer than the passed token.
    ///
    /// Common causes of failures:
    /// - *Keeps a delivered link when an older one is pruned*: `prune` also counts tokens that are newer than the delivered one. The emails
    ///   with these tokens may never arrive.
    /// - *Keeps the last of several tokens that were created at the same instant*: the store orders by time alone. If several tokens have
    ///   the same time, the token that the caller passes counts as the newest.
    /// - *Sweeps expired tokens, and nothing else*: the store removes a token exactly at its expiry. `hasExpired` must still find the token
    ///   at this time.
    /// - *Keeps the newest of an account's tokens*: the store counts the tokens of all accounts, or includes used tokens.
    private static let tokenRemovals: [AccountStoreCheck] =
        [
            check.withAccount("Keeps a delivered link when an older one is pruned and a newer one discarded") { stores, account in
                let tokens = (0..<3).map { StoredResetToken.sample(for: account, after: TimeInterval($0)) }
                for token in tokens { try await stores.resetTokens.insert(token, liveLimit: .max) }
                try await stores.resetTokens.prune(olderThan: tokens[1], liveLimit: 1)
                try require(await !stores.isLive(tokens[0].digest, after: 10), "The older token is removed")
                try require(await stores.isLive(tokens[1].digest, after: 10), "The token itself is live")
                try require(await stores.isLive(tokens[2].digest, after: 10), "The newer token is live")
                try await stores.resetTokens.discard(tokens[2].digest)
                try require(await stores.isLive(tokens[1].digest, after: 10), "The token itself is live after a discard")
                try require(await !stores.isLive(tokens[2].digest, after: 10), "The discarded token is removed")
            },
            check.withAccount("Keeps the last of several tokens that were created at the same instant") { stores, account in
                var last: TokenDigest?
                for _ in 0..<20 {
                    let token = try await stores.mint(for: account, liveLimit: 1)
                    try require(await stores.isLive(token), "The newest token is live")
                    if let last { try require(await !stores.isLive(last), "The one before it is removed") }
                    last = token
                }
            },
            check.withAccount("Sweeps expired tokens, and nothing else") { stores, account in
                let old = try await stores.mint(for: account)
                let young = try await stores.mint(for: account, after: 100)
                while try await stores.resetTokens.sweep(at: .after(3_600)) {}
                try require(await stores.isLive(old, after: 1), "A token that expires now is stored")
                while try await stores.resetTokens.sweep(at: .after(3_601)) {}
                try require(await stores.isLive(young, after: 3_601), "A live token is stored")
                try require(await !stores.isLive(old, after: 1), "An expired token is removed")
            },
        ]
        + [1, 2, 3].map { limit in
            check.withAccount("Keeps the newest \(limit) of an account's tokens at a limit of \(limit)") { stores, account in
                let other = try await stores.addAccount("bob@example.com")
                let others = try await stores.mint(for: other, liveLimit: limit)
                var tokens: [TokenDigest] = []
                for number in 0..<5 {
                    tokens.append(try await stores.mint(for: account, after: TimeInterval(number), liveLimit: limit))
                }
                for (index, token) in tokens.enumerated() {
                    let isLive = try await stores.isLive(token, after: 10)
                    try require(isLive, equals: index >= 5 - limit, "Whether token \(index + 1) of 5 is live")
                }
                try require(await stores.isLive(others, after: 10), "Another account's token is live")
            }
        }

    /// Checks of `AccountLockTokenStore`. Emails contain these tokens in the link "this was not me", with which a user locks the account.
    ///
    /// A token locks its account once, raises the epoch, and ends sessions and links in the same transaction. A password reset unlocks the
    /// account. A token of a suspended or inactive account is invalid. Otherwise, a user could turn the suspension into a lock, and then
    /// end the lock with a password reset.
    ///
    /// The descriptions begin with `freezeTokens`, after the table `freeze_token` of the SQL stores.
    ///
    /// Common causes of failures:
    /// - *Locks the account of a live token once, and a reset unlocks it*: the store changes the state without raising the epoch. A sign-in
    ///   that verified the password before the lock could then open a session after it.
    public static let accountLockTokens: [AccountStoreCheck] = [
        lockCheck.withAccount("Locks the account of a live token once, and a reset unlocks it") { stores, account in
            let session = try await OpenedSession(stores, account: account)
            let digest = TokenDigest(of: "freeze")
            try await stores.accountLockTokens.insert(digest, account: account.id, expiresAt: .after(60))
            try require(try await stores.account(ofLock: digest, after: 0)?.id, equals: account.id, "The account of the token")
            try require(await session.isAlive, "A lookup ends no session")
            try require(await stores.accountLockTokens.lock(digest, at: .after(0)), "lock returns true")
            let locked = try await stores.stored(account)
            try require(locked.state, equals: .locked, "The state")
            try require(locked.epoch, equals: account.epoch + 1, "The epoch")
            try require(await !session.isAlive, "The session has ended")
            try require(try await stores.account(ofLock: digest, after: 0), equals: nil, "The account of the used token")
            try require(await !stores.accountLockTokens.lock(digest, at: .after(0)), "A second lock returns false")

            let reset = try await stores.mint(for: account)
            try require(await stores.confirm(reset, of: account), "confirm returns true for a locked account")
            try require(try await stores.stored(account).state, equals: .active, "The state after a reset")
        },
        lockCheck("Ends the links of the account, and no other account's") { stores in
            let (ana, bob) = (try await stores.addAccount(), try await stores.addAccount("bob@example.com"))
            let links = (try await stores.mint(for: ana), try await stores.mint(for: bob))
            let digest = TokenDigest(of: "freeze")
            try await stores.accountLockTokens.insert(digest, account: ana.id, expiresAt: .after(60))
            try require(await stores.accountLockTokens.lock(digest, at: .after(0)), "lock returns true")
            try require(await !stores.isLive(links.0), "The account's link has ended")
            try require(await !stores.confirm(links.0, of: ana), "confirm returns false for it")
            try require(try await stores.stored(ana).state, equals: .locked, "The state")
            try require(await stores.isLive(links.1), "Another account's link works")
        },
        lockCheck.withAccount("Ends the links that were requested after an earlier lock") { stores, account in
            let (first, second) = (TokenDigest(of: "first"), TokenDigest(of: "second"))
            for digest in [first, second] {
                try await stores.accountLockTokens.insert(digest, account: account.id, expiresAt: .after(60))
            }
            try require(await stores.accountLockTokens.lock(first, at: .after(0)), "lock returns true")
            let link = try await stores.mint(for: account)
            try require(await stores.isLive(link), "A link that was requested after the lock works")
            try require(await stores.accountLockTokens.lock(second, at: .after(0)), "lock returns true for a locked account")
            try require(await !stores.isLive(link), "The link has ended")
            let next = try await stores.mint(for: account)
            try require(await stores.confirm(next, of: account), "confirm returns true for a later link")
        },
        lockCheck.withAccount("Accepts one of fifty concurrent calls") { stores, account in
            let digest = TokenDigest(of: "freeze")
            try await stores.accountLockTokens.insert(digest, account: account.id, expiresAt: .after(60))
            let results = try await concurrently(50) { try await stores.either($0).accountLockTokens.lock(digest, at: .after(1)) }
            try require(results.count { $0 }, equals: 1, "The number of winners")
            try require(try await stores.stored(account).epoch, equals: 1, "The epoch")
        },
        lockCheck.withAccount("Locks nothing by an expired, unknown, discarded or suspended account's token") { stores, account in
            let suspended = try await stores.addAccount("eve@example.com", state: .suspended)
            let (expired, foreign, discarded) = (
                TokenDigest(of: "expired"), TokenDigest(of: "foreign"), TokenDigest(of: "discarded")
            )
            try await stores.accountLockTokens.insert(expired, account: account.id, expiresAt: .after(0))
            try await stores.accountLockTokens.insert(foreign, account: suspended.id, expiresAt: .after(60))
            try await stores.accountLockTokens.insert(discarded, account: account.id, expiresAt: .after(60))
            try await stores.accountLockTokens.discard(discarded)
            for digest in [expired, foreign, discarded, TokenDigest(of: "unknown")] {
                try require(try await stores.account(ofLock: digest, after: 0), equals: nil, "The account of the token")
                try require(await !stores.accountLockTokens.lock(digest, at: .after(0)), "lock returns false")
            }
            try require(try await stores.stored(account).state, equals: .active, "The state")
        },
        lockCheck.withAccount("Sweeps expired tokens, and nothing else") { stores, account in
            let (old, young) = (TokenDigest(of: "old"), TokenDigest(of: "young"))
            try await stores.accountLockTokens.insert(old, account: account.id, expiresAt: .after(10))
            try await stores.accountLockTokens.insert(young, account: account.id, expiresAt: .after(60))
            while try await stores.accountLockTokens.sweep(at: .after(11)) {}
            // The token has not expired at this time. So if the store doesn't find the token, the store has removed it.
            try require(try await stores.account(ofLock: old, after: 1), equals: nil, "The account of an expired token")
            try require(try await stores.account(ofLock: young, after: 1)?.id, equals: account.id, "The account of a live token")
        },
    ]
}
