import Foundation

/// A step of an ``AccountHistory``. The step names addresses, passwords, sessions and emails by their numbers in the model.
enum HistoryStep {
    /// A user. The owner reads the mailboxes 0 and 1, and the attacker reads the mailboxes 2 and 3.
    enum User: CaseIterable {
        case owner, attacker

        init(mailbox: Int) { self = mailbox < 2 ? .owner : .attacker }
    }

    /// A proof that a user owns an account. The user sends the proof together with the token of a link.
    enum Proof {
        case session(Int)
        case password(Int)
        case newPassword(Int)
    }

    case register(User, address: Int, password: Int, session: Int)
    case requestRegistration(address: Int)
    case activate(mail: Int, password: Int, session: Int)
    case requestVerification(address: Int)
    case verify(mail: Int, Proof)
    case requestReset(address: Int)
    case reset(mail: Int, password: Int, User)
    case signIn(User, address: Int, password: Int, session: Int)
    case refresh(session: Int)
    case signOut(session: Int)
    case changePassword(session: Int, current: Int, new: Int, next: Int)
    case requestEmailChange(session: Int, password: Int, address: Int)
    case confirmEmail(mail: Int, Proof)
    case undoEmail(mail: Int)
    case lock(mail: Int)
    case delete(session: Int, password: Int)
    case keep(mail: Int)
    case endOtherSessions(session: Int)
    case endSession(Int, by: Int)
    case update(session: Int)
    /// The server delivers all pending emails.
    case deliver
    /// The attacker learns the newest password of the owner.
    case leak(password: Int)
    case wait(TimeInterval)
    case purge(includesUnused: Bool)

    /// The name of the step, without its arguments.
    var name: String { String("\(self)".prefix { $0 != "(" }) }

    /// Returns a random step that uses only the knowledge of one user. Most steps can succeed. Some steps use wrong passwords, ended
    /// sessions, old links, or links for another purpose.
    static func random(_ model: HistoryModel, using random: inout some RandomNumberGenerator) -> HistoryStep {
        let user: User = Bool.random(using: &random) ? .owner : .attacker
        let address = Int.random(in: 0..<HistoryModel.addressCount, using: &random)
        let (fresh, next) = (model.nextPassword, model.sessions.count)
        let isCareless = Int.random(in: 0..<6, using: &random) == 0
        let usable = model.usableSessions(of: user)
        let session = (isCareless || usable.isEmpty ? Array(model.sessions(of: user).suffix(6)) : usable).randomElement(
            using: &random
        )
        let anyPassword = model.known[user]?.randomElement(using: &random)
        let password = session.flatMap { isCareless ? anyPassword : model.knownPassword(ofSession: $0) ?? anyPassword }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<5: return .register(user, address: address, password: fresh, session: next)
        case 5..<7: return .requestRegistration(address: address)
        case 7..<9: return .requestVerification(address: address)
        case 9..<14: return .requestReset(address: address)
        case 14..<18: if let session { return .refresh(session: session) }
        case 18..<20: if let session { return .signOut(session: session) }
        case 20..<24:
            if let session, let password { return .changePassword(session: session, current: password, new: fresh, next: next) }
        case 24..<36:
            if let session, let password { return .requestEmailChange(session: session, password: password, address: address) }
        case 36..<38: if let session, let password { return .delete(session: session, password: password) }
        case 38: if let session { return otherStep(model, session, using: &random) }
        case 39..<69:
            if let step = useLink(model, user, fresh, next, using: &random) { return step }
        case 69..<72: if let password = model.known[.owner]?.max() { return .leak(password: password) }
        case 72..<73: return .wait([3_700, 90_000, 700_000].randomElement(using: &random) ?? 60)
        case 73..<75: return .wait(60)
        case 75: return .purge(includesUnused: Bool.random(using: &random))
        case 76..<90: return .deliver
        default: break
        }
        let accounts = model.accounts(openTo: user)
        if !isCareless, let (address, password) = accounts.randomElement(using: &random) {
            return .signIn(user, address: address, password: password, session: next)
        }
        return anyPassword.map { .signIn(user, address: address, password: $0, session: next) }
            ?? .register(user, address: address, password: fresh, session: next)
    }

    /// Returns a step that needs only a session: a change of the name, the end of all other sessions of the account, or the end of one
    /// session (of the same account or of any account).
    private static func otherStep(
        _ model: HistoryModel,
        _ session: Int,
        using random: inout some RandomNumberGenerator
    ) -> HistoryStep {
        let account = model.sessions[session].account
        let target = model.liveSessions.filter { $0 != session && model.sessions[$0].account == account }.randomElement(
            using: &random
        )
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .endOtherSessions(session: session)
        case 1: return .update(session: session)
        case 2: if let target { return .endSession(target, by: session) }
        default: break
        }
        return .endSession(model.sessions.indices.randomElement(using: &random) ?? session, by: session)
    }

    /// Returns a step that uses a link. Most steps use a new link, and use it for its purpose.
    private static func useLink(
        _ model: HistoryModel,
        _ user: User,
        _ fresh: Int,
        _ next: Int,
        using random: inout some RandomNumberGenerator
    ) -> HistoryStep? {
        let mails = model.mails.indices.filter { model.mails[$0].reader == user }
        let unused = mails.filter { !model.mails[$0].isUsed }
        let isOld = Int.random(in: 0..<5, using: &random) == 0
        guard let mail = (isOld || unused.isEmpty ? mails.suffix(20) : unused.suffix(8)).randomElement(using: &random) else {
            return nil
        }
        let kinds = ["reset", "changed", "verify_email", "activate", "confirm_email", "email_changed", "account_deleted"]
        let isMisused = Int.random(in: 0..<12, using: &random) == 0
        let kind = isMisused ? kinds.randomElement(using: &random) ?? "reset" : model.mails[mail].kind
        var proofs: [Proof] = model.usableSessions(of: user).filter { model.sessions[$0].account == model.mails[mail].account }
            .map {
                .session($0)
            }
        if proofs.isEmpty || isOld { proofs = model.sessions(of: user).suffix(3).map { .session($0) } }
        proofs += (model.known[user] ?? []).sorted().suffix(2).map { .password($0) }
        let proof = proofs.randomElement(using: &random)
        switch kind {
        case "changed", "new_device": return .lock(mail: mail)
        case "verify_email":
            let choice = Bool.random(using: &random) ? proof : nil
            return .verify(mail: mail, choice ?? .newPassword(fresh))
        case "activate": return .activate(mail: mail, password: fresh, session: next)
        case "confirm_email": return proof.map { .confirmEmail(mail: mail, $0) }
        case "email_changed", "former_account_deleted": return .undoEmail(mail: mail)
        case "account_deleted": return .keep(mail: mail)
        default: return .reset(mail: mail, password: fresh, user)
        }
    }
}
