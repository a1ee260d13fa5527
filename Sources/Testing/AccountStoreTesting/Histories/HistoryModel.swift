import AccountCore
import Foundation

/// The expected state of an ``AccountHistory``. The model contains the rules of accounts in a short form, and uses neither the services nor
/// the stores.
struct HistoryModel {
    typealias User = HistoryStep.User

    /// The number of addresses: two of the owner and two of the attacker.
    static let addressCount = 4
    private static let day = 86_400.0
    /// The time without use after which an unverified account is removed.
    static let unusedTime = 7 * day

    /// An account.
    struct Entry {
        var id: Account.ID?
        var address: Int
        /// The number of the password; `nil` if no password is valid.
        var password: Int?
        /// The time of the last sign-in, refresh or restoration while the address was not verified.
        var activeAt: TimeInterval
        var isVerified: Bool
        var isLocked = false
        var purgeAt: TimeInterval?
        /// The addresses before the current one, each with the time until which it can be restored.
        var former: [(address: Int, until: TimeInterval)] = []
        /// A counter that rises each time the unused links of the account become invalid.
        var epoch = 0
        /// Whether the attacker has learned a password of the account since the password was last set or removed with an emailed link.
        var isLeaked = false
        var isPurged = false

        var isUsable: Bool { !isLocked && purgeAt == nil && !isPurged }
        var isRecoverable: Bool { purgeAt == nil && !isPurged }
    }

    /// A session.
    struct SessionEntry {
        let user: User
        let account: Int
        var isAlive = true
        let begin: TimeInterval
        var refreshedAt: TimeInterval
    }

    /// A delivered email with a link.
    struct MailEntry {
        let token: String
        let kind: String
        let address: Int
        let account: Int?
        let epoch: Int
        let time: TimeInterval
        /// The time at which an undo link expires. Until the same time, the former address can be restored.
        let end: TimeInterval?
        var isUsed = false

        /// The user who reads the mailbox.
        var reader: User { User(mailbox: address) }
    }

    private(set) var accounts: [Entry] = []
    private(set) var sessions: [SessionEntry] = []
    private(set) var mails: [MailEntry] = []
    /// The passwords that each user knows.
    private(set) var known: [User: Set<Int>] = [:]
    private(set) var nextPassword = 0
    private var time: TimeInterval = 0

    /// The ended sessions, in the order in which they began.
    var endedSessions: [Int] { sessions.indices.filter { !sessions[$0].isAlive } }
    /// The sessions that have not ended.
    var liveSessions: [Int] { sessions.indices.filter { isAlive($0) } }

    /// Returns the time of the last refresh of a session.
    func refreshedAt(_ session: Int) -> Date { Date.after(sessions[session].refreshedAt) }

    /// Returns all sessions of a user, oldest first.
    func sessions(of user: User) -> [Int] { sessions.indices.filter { sessions[$0].user == user } }

    /// Returns the sessions of a user whose access tokens are valid.
    func usableSessions(of user: User) -> [Int] { sessions(of: user).filter { caller($0) != nil } }

    /// Returns the password of a session's account, if the user of the session knows it.
    func knownPassword(ofSession session: Int) -> Int? {
        accounts[sessions[session].account].password.flatMap { known[sessions[session].user]?.contains($0) == true ? $0 : nil }
    }

    /// Returns the addresses and passwords with which a user can sign in.
    func accounts(openTo user: User) -> [(address: Int, password: Int)] {
        accounts.compactMap { account in
            guard account.isUsable, let password = account.password, known[user]?.contains(password) == true else { return nil }
            return (account.address, password)
        }
    }

    /// Records the id that the server has given to the account of a session.
    mutating func bind(_ session: Int, to id: Account.ID?) {
        accounts[sessions[session].account].id = id
    }

    /// Records a delivered email.
    mutating func receive(_ token: String, kind: String, at address: Int, account id: Account.ID?) throws {
        let account = accounts.firstIndex { $0.id == id && id != nil && !$0.isPurged }
        mails.append(
            MailEntry(
                token: token,
                kind: kind,
                address: address,
                account: account,
                epoch: account.map { accounts[$0].epoch } ?? 0,
                time: time,
                end: account.flatMap { accounts[$0].former.last { $0.address == address && $0.until > time }?.until }
            )
        )
        guard let account, isReset(kind) else { return }
        // Only the newest three unused reset links of an account are valid.
        let live = mails.indices.filter { isReset(mails[$0].kind) && mails[$0].account == account && !mails[$0].isUsed }
        for old in live.dropLast(3) { mails[old].isUsed = true }
    }

    /// Checks that the attacker has no access to an account with a verified address of the owner.
    func checkOwnership() throws {
        for (number, account) in accounts.enumerated() where !account.isPurged && !account.isLeaked {
            guard account.isVerified, User(mailbox: account.address) == .owner else { continue }
            if let password = account.password {
                try require(known[.attacker]?.contains(password) != true, "The attacker knows the password of account \(number)")
            }
            let stolen = liveSessions.contains { sessions[$0].account == number && sessions[$0].user == .attacker }
            try require(!stolen, "The attacker has a session of account \(number)")
        }
    }

    // MARK: Steps

    /// Applies a step.
    /// - Returns: Whether the step must succeed.
    mutating func apply(_ step: HistoryStep) -> Bool {
        switch step {
        case .register(let user, let address, let password, _):
            learn(password, user)
            guard isFree(address, for: nil) else { return false }
            accounts.append(Entry(address: address, password: password, activeAt: time, isVerified: false))
            open(accounts.count - 1, by: user)
            return true
        case .activate(let mail, let password, _):
            learn(password, mails[mail].reader)
            guard mails[mail].kind == "activate", isFresh(mail, Self.day), isFree(mails[mail].address, for: nil) else {
                return false
            }
            for other in mails.indices where mails[other].kind == "activate" && mails[other].address == mails[mail].address {
                mails[other].isUsed = true
            }
            accounts.append(Entry(address: mails[mail].address, password: password, activeAt: time, isVerified: true))
            open(accounts.count - 1, by: mails[mail].reader)
            return true
        case .verify(let mail, let proof): return verify(mail, proof)
        case .reset(let mail, let password, let user): return reset(mail, password, user)
        case .signIn(let user, let address, let password, _):
            guard let account = current(address), accounts[account].password == password, accounts[account].isUsable else {
                return false
            }
            open(account, by: user)
            return true
        case .refresh(let session):
            guard isAlive(session) else { return false }
            sessions[session].refreshedAt = time
            noteActivity(of: sessions[session].account)
            return true
        case .signOut(let session):
            sessions[session].isAlive = false
            return true
        case .changePassword(let session, let current, let new, _):
            learn(new, sessions[session].user)
            guard let account = caller(session), accounts[account].password == current else { return false }
            set(new, of: account)
            open(account, by: sessions[session].user)
            return true
        case .requestEmailChange(let session, let password, _):
            guard let account = caller(session) else { return false }
            return accounts[account].password == password
        case .confirmEmail(let mail, let proof): return confirmEmail(mail, proof)
        case .undoEmail(let mail): return undoEmail(mail)
        case .lock(let mail): return lock(mail)
        case .delete(let session, let password):
            guard let account = caller(session), accounts[account].password == password else { return false }
            accounts[account].purgeAt = max(time + 7 * Self.day, accounts[account].former.map(\.until).max() ?? 0)
            invalidate(account)
            invalidateRecovery(account)
            endSessions(of: account)
            return true
        case .keep(let mail): return keep(mail)
        case .endOtherSessions(let session):
            guard let account = caller(session) else { return false }
            endSessions(of: account, except: session)
            return true
        case .endSession(let target, let session):
            guard let account = caller(session) else { return false }
            if sessions[target].account == account { sessions[target].isAlive = false }
            return true
        case .update(let session): return caller(session) != nil
        case .leak(let password):
            learn(password, .attacker)
            for number in accounts.indices where accounts[number].password == password { accounts[number].isLeaked = true }
            return true
        case .wait(let seconds):
            time += seconds
            return true
        case .purge(let includesUnused):
            for number in accounts.indices where isDue(number, includesUnused: includesUnused) {
                accounts[number].isPurged = true
                endSessions(of: number)
                // The server also removes the links that it sent to an address of a removed account.
                for mail in mails.indices
                where ["activate", "confirm_email"].contains(mails[mail].kind)
                    && addresses(of: number).contains(mails[mail].address)
                {
                    mails[mail].isUsed = true
                }
            }
            return true
        case .requestRegistration, .requestVerification, .requestReset, .deliver: return true
        }
    }

    /// Verifies the address of a link's account, with a proof that the user owns the account.
    /// - Returns: Whether the server must accept the step.
    private mutating func verify(_ mail: Int, _ proof: HistoryStep.Proof) -> Bool {
        if case .newPassword(let password) = proof { learn(password, mails[mail].reader) }
        guard mails[mail].kind == "verify_email", isFresh(mail, Self.day), let account = mails[mail].account,
            accounts[account].isUsable, accounts[account].address == mails[mail].address,
            accounts[account].epoch == mails[mail].epoch
        else { return false }
        switch proof {
        case .newPassword(let password):
            set(password, of: account)
            // Now, the reader of the mailbox is the only user who knows the password.
            accounts[account].isLeaked = false
        default:
            guard isProof(proof, of: account) else { return false }
        }
        accounts[account].isVerified = true
        use("verify_email", of: account)
        return true
    }

    /// Sets a new password by a link. All sessions end, and all reset links of the account become invalid.
    /// - Returns: Whether the server must accept the step.
    private mutating func reset(_ mail: Int, _ password: Int, _ user: User) -> Bool {
        learn(password, user)
        guard isReset(mails[mail].kind), isFresh(mail, 3_600), let account = mails[mail].account,
            accounts[account].isRecoverable, accounts[account].address == mails[mail].address
        else { return false }
        accounts[account].password = password
        accounts[account].isVerified = true
        accounts[account].isLocked = false
        accounts[account].isLeaked = false
        accounts[account].epoch += 1
        for kind in Self.resetKinds { use(kind, of: account) }
        endSessions(of: account)
        return true
    }

    /// Changes the address of an account. The former address can be restored for seven days.
    /// - Returns: Whether the server must accept the step.
    private mutating func confirmEmail(_ mail: Int, _ proof: HistoryStep.Proof) -> Bool {
        guard mails[mail].kind == "confirm_email", isFresh(mail, Self.day), let account = mails[mail].account,
            accounts[account].isUsable, accounts[account].epoch == mails[mail].epoch, isProof(proof, of: account),
            isFree(mails[mail].address, for: account)
        else { return false }
        use("confirm_email", of: account)
        use("verify_email", of: account)
        guard accounts[account].address != mails[mail].address else { return true }
        accounts[account].former.append((accounts[account].address, time + 7 * Self.day))
        accounts[account].address = mails[mail].address
        accounts[account].isVerified = true
        invalidateRecovery(account)
        if case .session(let session) = proof { endSessions(of: account, except: session) } else { endSessions(of: account) }
        return true
    }

    /// Restores a former address of an account, and removes the password of the account. The addresses that the account had after the
    /// former address can no longer be restored.
    /// - Returns: Whether the server must accept the step.
    private mutating func undoEmail(_ mail: Int) -> Bool {
        guard ["email_changed", "former_account_deleted"].contains(mails[mail].kind), !mails[mail].isUsed,
            mails[mail].end.map({ $0 > time }) ?? false, let account = mails[mail].account, !accounts[account].isPurged,
            let index = accounts[account].former.firstIndex(where: { $0.address == mails[mail].address && $0.until > time })
        else { return false }
        accounts[account].address = accounts[account].former[index].address
        accounts[account].former.removeSubrange(index...)
        accounts[account].password = nil
        accounts[account].isVerified = true
        accounts[account].purgeAt = nil
        accounts[account].isLeaked = false
        let earlier = accounts[account].former.map(\.address)
        for other in mails.indices where mails[other].account == account {
            let isUndo = ["email_changed", "former_account_deleted"].contains(mails[other].kind)
            if other == mail || !isUndo || !earlier.contains(mails[other].address) { mails[other].isUsed = true }
        }
        accounts[account].epoch += 1
        endSessions(of: account)
        return true
    }

    /// Locks an account by the link in an email about a change or a new device. All sessions end, and all reset links become invalid.
    /// - Returns: Whether the server must accept the step.
    private mutating func lock(_ mail: Int) -> Bool {
        guard ["changed", "new_device"].contains(mails[mail].kind), isFresh(mail, 7 * Self.day),
            let account = mails[mail].account,
            accounts[account].isRecoverable
        else { return false }
        mails[mail].isUsed = true
        accounts[account].isLocked = true
        accounts[account].epoch += 1
        for kind in Self.resetKinds { use(kind, of: account) }
        endSessions(of: account)
        return true
    }

    /// Restores a deleted account before its removal.
    /// - Returns: Whether the server must accept the step.
    private mutating func keep(_ mail: Int) -> Bool {
        guard mails[mail].kind == "account_deleted", !mails[mail].isUsed, let account = mails[mail].account,
            let purgeAt = accounts[account].purgeAt, purgeAt > time, !accounts[account].isPurged,
            accounts[account].address == mails[mail].address
        else { return false }
        use("account_deleted", of: account)
        accounts[account].purgeAt = nil
        noteActivity(of: account)
        return true
    }

    // MARK: Rules

    /// The kinds of emails that contain a reset link.
    private static let resetKinds = ["reset", "account_exists"]

    /// Returns whether an email of this kind contains a reset link.
    private func isReset(_ kind: String) -> Bool { Self.resetKinds.contains(kind) }

    /// Returns whether the link of an email is unused and not older than its lifetime in seconds.
    private func isFresh(_ mail: Int, _ lifetime: TimeInterval) -> Bool {
        !mails[mail].isUsed && mails[mail].time + lifetime > time
    }

    /// Returns the address of an account, and the former addresses that can still be restored.
    private func addresses(of account: Int) -> [Int] {
        [accounts[account].address] + accounts[account].former.filter { $0.until > time }.map(\.address)
    }

    /// Returns whether the server would remove an account if it ran the removal of accounts now.
    private func isDue(_ number: Int, includesUnused: Bool) -> Bool {
        let account = accounts[number]
        guard !account.isPurged else { return false }
        if let purgeAt = account.purgeAt { return purgeAt <= time }
        return includesUnused && !account.isVerified && account.activeAt < time - Self.unusedTime
    }

    /// Returns the account that has an address now.
    private func current(_ address: Int) -> Int? { accounts.firstIndex { $0.address == address && !$0.isPurged } }

    /// Returns whether an address is available: no other account has the address or had it within the last seven days.
    private func isFree(_ address: Int, for account: Int?) -> Bool {
        !accounts.indices.contains { other in
            guard other != account, !accounts[other].isPurged else { return false }
            return accounts[other].address == address
                || accounts[other].former.contains { $0.address == address && $0.until > time }
        }
    }

    /// Returns whether a session can be refreshed: the session has not ended, and neither of its two time limits has passed.
    private func isAlive(_ session: Int) -> Bool {
        let entry = sessions[session]
        return entry.isAlive && time - entry.refreshedAt <= 30 * Self.day && time - entry.begin <= 90 * Self.day
    }

    /// Returns the account of a session whose access token is valid.
    private func caller(_ session: Int) -> Int? {
        guard sessions[session].isAlive, time - sessions[session].refreshedAt < 900 else { return nil }
        return sessions[session].account
    }

    /// Returns whether a proof belongs to an account. A new password doesn't prove that the user owns the account.
    private func isProof(_ proof: HistoryStep.Proof, of account: Int) -> Bool {
        switch proof {
        case .session(let session): caller(session) == account
        case .password(let password): accounts[account].password == password
        case .newPassword: false
        }
    }

    /// Records that a user knows a password.
    private mutating func learn(_ password: Int, _ user: User) {
        known[user, default: []].insert(password)
        nextPassword = max(nextPassword, password + 1)
    }

    /// Opens a session of an account. A sign-in counts as a use of the account.
    private mutating func open(_ account: Int, by user: User) {
        noteActivity(of: account)
        sessions.append(SessionEntry(user: user, account: account, begin: time, refreshedAt: time))
    }

    /// Records the time at which an account was used. Like the stores, the model ignores a time less than an hour after the stored time.
    private mutating func noteActivity(of account: Int) {
        if time - accounts[account].activeAt >= 3_600 { accounts[account].activeAt = time }
    }

    private mutating func endSessions(of account: Int, except kept: Int? = nil) {
        for session in sessions.indices where sessions[session].account == account && session != kept {
            sessions[session].isAlive = false
        }
    }

    /// Sets the password of an account. All sessions end, and the links that `invalidate` lists become invalid.
    private mutating func set(_ password: Int, of account: Int) {
        accounts[account].password = password
        invalidate(account)
        endSessions(of: account)
    }

    /// Raises the epoch, and invalidates the links that verify or change the address, or that restore a deleted account.
    private mutating func invalidate(_ account: Int) {
        accounts[account].epoch += 1
        for kind in ["verify_email", "confirm_email", "account_deleted"] { use(kind, of: account) }
    }

    /// Invalidates the links that reset the password or lock the account.
    private mutating func invalidateRecovery(_ account: Int) {
        for kind in Self.resetKinds + ["changed", "new_device"] { use(kind, of: account) }
    }

    /// Marks all links of a kind that belong to an account as used.
    private mutating func use(_ kind: String, of account: Int) {
        for mail in mails.indices where mails[mail].kind == kind && mails[mail].account == account { mails[mail].isUsed = true }
    }
}
