import Foundation

/// A step of an ``AccountHistory``. Addresses, passwords, sessions and emails are numbers of the model.
enum HistoryStep {
    /// A person. The owner reads the mailboxes 0 and 1, the attacker 2 and 3.
    enum Person: CaseIterable {
        case owner, attacker

        init(mailbox: Int) { self = mailbox < 2 ? .owner : .attacker }
    }

    /// The proof that a person sends with a link.
    enum Proof {
        case session(Int)
        case password(Int)
        case newPassword(Int)
    }

    case register(Person, address: Int, password: Int, session: Int)
    case requestRegistration(address: Int)
    case activate(mail: Int, password: Int, session: Int)
    case requestVerification(address: Int)
    case verify(mail: Int, Proof)
    case requestReset(address: Int)
    case reset(mail: Int, password: Int, Person)
    case signIn(Person, address: Int, password: Int, session: Int)
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
    /// All pending emails are delivered.
    case deliver
    /// The attacker learns the newest password of the owner.
    case leak(password: Int)
    case wait(TimeInterval)
    case purge

    /// Returns a random step that a person can take with what the person knows.
    static func random(_ model: HistoryModel, using random: inout some RandomNumberGenerator) -> HistoryStep {
        let person: Person = Bool.random(using: &random) ? .owner : .attacker
        let address = Int.random(in: 0..<HistoryModel.addressCount, using: &random)
        let fresh = model.nextPassword
        let next = model.sessions.count
        let known = model.known[person]?.randomElement(using: &random)
        // Mostly a recent link. Old ones test that links stay invalid.
        let mails = model.mails.indices.filter { model.mails[$0].reader == person }.suffix(12)
        let mail = mails.suffix(Bool.random(using: &random) ? 3 : 12).randomElement(using: &random)
        let session = model.sessions.indices.filter { model.sessions[$0].person == person }.suffix(6).randomElement(using: &random)
        let pick = Int.random(in: 0..<100, using: &random)
        switch pick {
        case 0..<6: return .register(person, address: address, password: fresh, session: next)
        case 6..<8: return .requestRegistration(address: address)
        case 8..<10: return .requestVerification(address: address)
        case 10..<16: return .requestReset(address: address)
        case 16..<26: if let known { return .signIn(person, address: address, password: known, session: next) }
        case 26..<32: if let session { return .refresh(session: session) }
        case 32..<35: if let session { return .signOut(session: session) }
        case 35..<39: if let session, let known { return .changePassword(session: session, current: known, new: fresh, next: next) }
        case 39..<47: if let session, let known { return .requestEmailChange(session: session, password: known, address: address) }
        case 47..<50: if let session, let known { return .delete(session: session, password: known) }
        case 50..<52: if let session { return .endOtherSessions(session: session) }
        case 52..<80:
            if let mail { return useLink(mail, model, person, session, known, fresh, next, using: &random) }
        case 80..<83:
            if let password = model.known[.owner]?.max() { return .leak(password: password) }
        case 83..<86: return .wait([60, 3_700, 90_000, 700_000].randomElement(using: &random) ?? 60)
        case 86..<88: return .purge
        default: return .deliver
        }
        return .deliver
    }

    /// Returns a use of a link: mostly for its purpose, sometimes for another one.
    private static func useLink(
        _ mail: Int,
        _ model: HistoryModel,
        _ person: Person,
        _ session: Int?,
        _ known: Int?,
        _ fresh: Int,
        _ next: Int,
        using random: inout some RandomNumberGenerator
    ) -> HistoryStep {
        let kinds = ["reset", "changed", "verify_email", "activate", "confirm_email", "email_changed", "account_deleted"]
        let isMisused = Int.random(in: 0..<10, using: &random) == 0
        let kind = isMisused ? kinds.randomElement(using: &random) ?? "reset" : model.mails[mail].kind
        var proofs: [Proof] = []
        if let session { proofs.append(.session(session)) }
        if let known { proofs.append(.password(known)) }
        let proof = proofs.randomElement(using: &random)
        switch kind {
        case "changed", "new_device": return .lock(mail: mail)
        case "verify_email":
            let choice = Bool.random(using: &random) ? proof : nil
            return .verify(mail: mail, choice ?? .newPassword(fresh))
        case "activate": return .activate(mail: mail, password: fresh, session: next)
        case "confirm_email": return proof.map { .confirmEmail(mail: mail, $0) } ?? .deliver
        case "email_changed", "former_account_deleted": return .undoEmail(mail: mail)
        case "account_deleted": return .keep(mail: mail)
        default: return .reset(mail: mail, password: fresh, person)
        }
    }
}
