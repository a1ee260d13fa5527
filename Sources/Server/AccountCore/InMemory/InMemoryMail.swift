import AccountContract
import Foundation
import RateLimiting

/// An entry of the email queue: the email to send, its state, and the time at which it is due.
struct InMemoryIntent: Sendable {
    var intent: MailIntent
    var state = QueuedMail.State.waiting
    var dueAt: Date
    var reason: String?

    /// Whether the email is a new request: a client requested it without signing in, and no worker has tried to send it yet. The queue
    /// serves the networks of the clients with new requests in turn. It returns all other emails in the order of their due times.
    fileprivate var isFresh: Bool { intent.subject.isAnonymous && state == .waiting && intent.failures == 0 }
    fileprivate var network: String { intent.origin.client ?? "" }
}

/// The email queue in memory. All workers of the queue are in this process, so no worker can die and leave claimed emails in the queue.
struct InMemoryMailIntents: MailIntentQueue, MailQueueInspection {
    let stores: InMemoryAccountStores

    func enqueue(_ intent: MailIntent) async throws {
        try await stores.perform("intents.enqueue") { try $0.enqueue(intent) }
    }

    func claim(limit: Int, at now: Date, leaseEnd: Date, includesResets: Bool) async throws -> [MailIntent] {
        try await stores.perform("intents.claim") { state in
            var claimed: [MailIntent] = []
            while claimed.count < limit, let next = state.next(includesResets: includesResets, at: now) {
                state.intents[next.id]?.state = .taken
                state.intents[next.id]?.dueAt = leaseEnd
                claimed.append(next)
            }
            return claimed
        }
    }

    func release(_ intent: MailIntent, leaseEnd: Date, at now: Date) async throws {
        try await stores.perform("intents.release") { state in
            guard let found = state.held(intent, until: leaseEnd) else { return }
            state.intents[intent.id]?.state = .waiting
            state.intents[intent.id]?.dueAt = now
            state.turns.returned.append(found.network)
        }
    }

    func releaseAbandoned(at now: Date) async throws -> Int {
        try await stores.perform("intents.releaseAbandoned") { _ in 0 }
    }

    func settle(_ intent: MailIntent) async throws {
        try await stores.perform("intents.settle") { $0.intents[intent.id] = nil }
    }

    func postpone(_ intent: MailIntent, leaseEnd: Date, until due: Date, reason: String) async throws {
        try await stores.perform("intents.postpone") { $0.fail(intent, leaseEnd, as: .waiting, until: due, reason) }
    }

    func abandon(_ intent: MailIntent, leaseEnd: Date, until end: Date, reason: String) async throws {
        try await stores.perform("intents.giveUp") { $0.fail(intent, leaseEnd, as: .failed, until: end, reason) }
    }

    func sweep(at now: Date) async throws {
        try await stores.perform("intents.sweep") { state in
            state.intents = state.intents.filter { $0.value.state != .failed || $0.value.dueAt > now }
        }
    }

    func lastRetry() async throws -> Date? {
        try await stores.perform("intents.lastRetry") { $0.lastRetry }
    }

    func count() async throws -> Int {
        try await stores.perform("intents.count") { $0.intents.values.count { $0.state != .failed } }
    }

    func oldest(at now: Date) async throws -> Date? {
        try await stores.perform("intents.oldest") { state in
            state.intents.values.filter { $0.state != .failed && $0.dueAt <= now }.map(\.intent.createdAt).min()
        }
    }

    func ping() async throws {
        try await stores.perform("intents.ping") { _ in }
    }

    func mails(limit: Int) async throws -> [QueuedMail] {
        try await stores.perform("intents.mails") { state in
            state.intents.values.sorted { ($0.intent.createdAt, $0.intent.id.text) < ($1.intent.createdAt, $1.intent.id.text) }
                .prefix(limit).map { state.mail($0) }
        }
    }

    func retry(_ ids: Set<MailIntent.ID>?, includingFailed: Bool, at now: Date) async throws -> Int {
        try await stores.perform("intents.retry") { state in
            var count = 0
            for (id, found) in state.intents where ids?.contains(id) ?? true {
                guard found.state == .waiting && found.dueAt > now || found.state == .failed && includingFailed else { continue }
                state.intents[id]?.state = .waiting
                state.intents[id]?.dueAt = now
                count += 1
            }
            state.lastRetry = now
            return count
        }
    }
}

extension InMemoryState {
    /// Adds an intent, which is due immediately.
    /// - Throws: ``StoreFailure`` if the id of the intent is taken.
    mutating func enqueue(_ intent: MailIntent) throws {
        guard intents[intent.id] == nil else { throw StoreFailure(isBusy: false, message: "the id of an intent is taken") }
        intents[intent.id] = InMemoryIntent(intent: intent, dueAt: intent.createdAt)
    }

    /// Adds intents, which are due immediately. If the id of one of them is taken, the method throws and adds none of them.
    mutating func enqueue(_ intents: [MailIntent]) throws {
        let unchanged = self.intents
        do {
            for intent in intents { try enqueue(intent) }
        } catch {
            self.intents = unchanged
            throw error
        }
    }

    /// Returns an intent if its worker still has the lease that ends at `leaseEnd`; otherwise, returns `nil`.
    fileprivate func held(_ intent: MailIntent, until leaseEnd: Date) -> InMemoryIntent? {
        intents[intent.id].flatMap { $0.state == .taken && $0.dueAt == leaseEnd ? $0 : nil }
    }

    /// Counts a failed delivery of an intent, and ends its lease. If the worker no longer has the lease, nothing happens.
    fileprivate mutating func fail(
        _ intent: MailIntent,
        _ leaseEnd: Date,
        as state: QueuedMail.State,
        until due: Date,
        _ reason: String
    ) {
        guard var found = held(intent, until: leaseEnd) else { return }
        found.intent.failures += 1
        (found.state, found.dueAt, found.reason) = (state, due, reason)
        intents[intent.id] = found
    }

    /// Returns the intent to claim next. New requests alternate with the other due intents; see `isFresh` of ``InMemoryIntent``.
    fileprivate mutating func next(includesResets: Bool, at now: Date) -> MailIntent? {
        defer { turns.isDueFirst.toggle() }
        let due = intents.values.filter { found in
            !found.isFresh && found.state != .failed && found.dueAt <= now
                && (includesResets || !found.intent.subject.isAnonymous)
        }.min { ($0.dueAt, $0.intent.createdAt) < ($1.dueAt, $1.intent.createdAt) }
        if turns.isDueFirst, let due { return due.intent }
        return (includesResets ? nextNew() : nil) ?? due?.intent
    }

    /// Returns the oldest new request of the network whose turn it is; see ``MailTurns``.
    private mutating func nextNew() -> MailIntent? {
        let fresh = Dictionary(grouping: intents.values.filter(\.isFresh), by: \.network)
        var network: String?
        while network == nil, let returned = turns.returned.popFirst() { network = fresh[returned] == nil ? nil : returned }
        if network == nil {
            network = fresh.keys.filter { $0 > turns.last }.min() ?? fresh.keys.min()
            turns.last = network ?? turns.last
        }
        return network.flatMap { fresh[$0] }?.map(\.intent).min {
            ($0.createdAt, $0.id.uuidString) < ($1.createdAt, $1.id.uuidString)
        }
    }

    /// Returns the description of an email for an operator.
    fileprivate func mail(_ found: InMemoryIntent) -> QueuedMail {
        let subject = found.intent.subject.columns
        let recipient = subject.email ?? subject.account.flatMap { accounts[$0]?.email }
        return QueuedMail(
            id: found.intent.id,
            kind: found.intent.subject.kind,
            recipient: recipient,
            state: found.state,
            failures: found.intent.failures,
            createdAt: found.intent.createdAt,
            dueAt: found.dueAt,
            reason: found.reason
        )
    }
}

/// A sent email. It counts for the limits of ``ResetMailBounds`` until `endsAt`.
struct InMemorySentReset: Sendable {
    let accountID: Account.ID?
    let sentAt: Date
    let endsAt: Date
}

/// A store, in memory, of the recently sent emails that clients requested without signing in.
struct InMemorySentResets: SentResetStore {
    let stores: InMemoryAccountStores

    func reserve(
        _ intent: MailIntent.ID,
        for account: Account.ID?,
        within bounds: ResetMailBounds,
        at now: Date
    ) async throws -> ResetMailDecision {
        try await stores.perform("sentResets.reserve") { state in
            let others = state.sentResets.filter { $0.key != intent }.values
            if let account, let bound = bounds.perAccount {
                let begin = now.addingTimeInterval(-(bound.window / .seconds(1)))
                let sent = others.count { $0.accountID == account && $0.sentAt > begin }
                if sent >= bound.quota { return .accountExceeded }
            }
            if let bound = bounds.overall {
                // The burst is a part of the quota, and the limit admits the burst within the same part of the window. For example, if the
                // burst is a tenth of the quota, at most the burst is sent within a tenth of the window.
                let span = bound.window / .seconds(1) * Double(bound.burst) / Double(bound.quota)
                let sent = others.map(\.sentAt).filter { $0 > now.addingTimeInterval(-span) }.sorted(by: >)
                if sent.count >= bound.burst { return .later(sent[bound.burst - 1].addingTimeInterval(span)) }
            }
            let span = [bounds.perAccount, bounds.overall].compactMap { $0?.window }.max() ?? .zero
            let end = now.addingTimeInterval(span / .seconds(1))
            let earlier = state.sentResets.updateValue(
                InMemorySentReset(accountID: account, sentAt: now, endsAt: end),
                forKey: intent
            )
            return earlier == nil ? .reserved : .reservedAgain
        }
    }

    func cancel(_ intent: MailIntent.ID, reservedAt time: Date) async throws {
        try await stores.perform("sentResets.cancel") { state in
            if state.sentResets[intent]?.sentAt == time { state.sentResets[intent] = nil }
        }
    }

    func sweep(at now: Date) async throws -> Bool {
        try await stores.perform("sentResets.sweep") { state in
            state.sentResets = state.sentResets.filter { $0.value.endsAt > now }
            return false
        }
    }
}
