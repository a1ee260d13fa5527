import AccountContract
import Foundation

/// A store, in memory, of the links, former addresses and devices of accounts.
struct InMemoryAccountRecords: AccountRecordStore {
    let stores: InMemoryAccountStores

    func insert(_ link: StoredLink) async throws {
        try await stores.perform("records.insert") { state in
            if let id = link.accountID { _ = try state.requireAccount(id) }
            guard state.links[link.digest] == nil else { throw StoreFailure(isBusy: false, message: "the token is taken") }
            state.links[link.digest] = link
        }
    }

    func discard(_ digest: TokenDigest) async throws {
        try await stores.perform("records.discard") { $0.links[digest] = nil }
    }

    func find(_ digest: TokenDigest, at now: Date) async throws -> (link: StoredLink, record: AccountRecord?)? {
        try await stores.perform("records.find") { state in
            guard let link = state.links[digest], link.expiresAt > now else { return nil }
            guard let id = link.accountID else { return (link, nil) }
            return state.record(of: id, at: now).map { (link, $0) }
        }
    }

    func isAvailable(_ email: EmailAddress, to account: Account.ID?, at now: Date) async throws -> Bool {
        try await stores.perform("records.isAvailable") { !$0.isTaken(email, except: account, at: now) }
    }

    func record(of id: Account.ID, at now: Date) async throws -> AccountRecord? {
        try await stores.perform("records.record") { $0.record(of: id, at: now) }
    }

    func change<Value: Sendable>(
        _ id: Account.ID,
        at now: Date,
        _ body: @escaping @Sendable (inout AccountRecord) throws -> Value
    ) async throws -> Value? {
        try await stores.perform("records.change") { state in
            guard let old = state.record(of: id, at: now) else { return nil }
            var record = old
            let value = try body(&record)
            if record.account.email != old.account.email {
                guard !state.isTaken(record.account.email, except: id, at: now) else { throw AccountError.emailExists }
            }
            // This step can throw, so it comes before all other changes. If it throws, nothing is changed.
            try state.enqueue(record.effects.intents)
            state.addresses[old.account.email.normalized] = nil
            state.addresses[record.account.email.normalized] = id
            record.account.state = old.account.state
            record.account.createdAt = old.account.createdAt
            state.accounts[id] = record.account
            state.formerAddresses[id] = record.formerAddresses
            let kept = Set(record.links.map(\.digest))
            for link in old.links where !kept.contains(link.digest) { state.links[link.digest] = nil }
            switch record.effects.sessions {
            case .none: break
            case .all: state.endSessions(of: id)
            case .others(let session): state.endSessions(of: id, except: session)
            }
            if record.effects.removesRecoveryTokens {
                state.resetTokens = state.resetTokens.filter { $0.value.token.accountID != id }
                state.accountLockTokens = state.accountLockTokens.filter { $0.value.accountID != id }
            }
            if let event = record.effects.event { state.append(event) }
            return value
        }
    }

    func activate(_ digest: TokenDigest, as account: Account, at now: Date) async throws -> Bool {
        try await stores.perform("records.activate") { state in
            guard let link = state.links[digest], link.purpose == .activate, link.expiresAt > now,
                link.recipient == account.email, try state.insert(account, at: now)
            else { return false }
            state.links = state.links.filter { $0.value.purpose != .activate || $0.value.recipient != account.email }
            return true
        }
    }

    func noteActivity(of id: Account.ID, at now: Date) async throws {
        try await stores.perform("records.noteActivity") { state in
            guard state.accounts[id] != nil else { return }
            if let noted = state.activity[id], noted <= now, noted > now - 3_600 { return }
            state.activity[id] = now
        }
    }

    func noteDevice(family: String, of id: Account.ID, at now: Date, notice: MailIntent?) async throws -> Bool {
        try await stores.perform("records.noteDevice") { state in
            _ = try state.requireAccount(id)
            let known = state.devices[id] ?? [:]
            guard known[family] == nil else { return false }
            // This step can throw, so it comes before the other change. If it throws, nothing is changed.
            if let notice, !known.isEmpty { try state.enqueue(notice) }
            state.devices[id, default: [:]][family] = now
            return !known.isEmpty
        }
    }

    func remainder(of account: Account) async throws -> AccountRemainder {
        try await stores.perform("records.remainder") { state in
            let queued = state.intents.values.map(\.intent).filter { intent in
                let subject = intent.subject.columns
                return subject.account ?? account.id == account.id && subject.email ?? account.email == account.email
            }
            return AccountRemainder(
                activeAt: state.activity[account.id],
                lockLinkExpiries: state.accountLockTokens.values.filter { $0.accountID == account.id }.map(\.expiresAt).sorted(),
                queuedEmails: queued.sorted { ($0.createdAt, $0.id.text) < ($1.createdAt, $1.id.text) }
                    .map { .init(kind: $0.subject.kind, createdAt: $0.createdAt) },
                resetEmailTimes: state.sentResets.values.filter { $0.accountID == account.id }.map(\.sentAt).sorted()
            )
        }
    }

    func devices(of id: Account.ID) async throws -> [(family: String, firstSeenAt: Date)] {
        try await stores.perform("records.devices") { state in
            (state.devices[id] ?? [:]).sorted { $0.key < $1.key }.map { (family: $0.key, firstSeenAt: $0.value) }
        }
    }

    func purgeCandidates(at now: Date, unverifiedSince: Date?, limit: Int) async throws -> [PurgeCandidate] {
        try await stores.perform("records.purgeCandidates") { state in
            let due = state.accounts.values.filter { state.isDue($0, at: now, unverifiedSince) }
            return due.sorted { $0.id.description < $1.id.description }.prefix(limit).map { account in
                let linked = state.links.values.filter { $0.accountID == account.id }.map(\.recipient)
                let former = (state.formerAddresses[account.id] ?? []).map(\.email)
                let addresses = Set([account.email] + former + linked)
                return PurgeCandidate(id: account.id, addresses: addresses.sorted { $0.text < $1.text })
            }
        }
    }

    func purge(_ ids: [Account.ID], at now: Date, unverifiedSince: Date?, isForced: Bool) async throws -> [Account.ID] {
        try await stores.perform("records.purge") { state in
            let due = ids.filter { id in
                state.accounts[id].map { isForced || state.isDue($0, at: now, unverifiedSince) } ?? false
            }
            for id in due { state.remove(id, at: now) }
            return due
        }
    }

    func unlistedPurges(limit: Int) async throws -> [ListedPurge] {
        try await stores.perform("records.unlistedPurges") { Array($0.unlistedPurges.prefix(limit)) }
    }

    func markListed(_ ids: [Account.ID]) async throws {
        try await stores.perform("records.markListed") { state in
            state.unlistedPurges.removeAll { ids.contains($0.id) }
        }
    }

    func scrub() async throws {}

    func sweep(at now: Date) async throws -> Bool {
        try await stores.perform("records.sweep") { state in
            state.links = state.links.filter { $0.value.expiresAt > now }
            state.formerAddresses = state.formerAddresses.mapValues { $0.filter { $0.expiresAt > now } }
            return false
        }
    }
}

extension InMemoryState {
    /// Returns an account with its former addresses and links. Expired addresses and links are omitted.
    fileprivate func record(of id: Account.ID, at now: Date) -> AccountRecord? {
        accounts[id].map { account in
            AccountRecord(
                account: account,
                formerAddresses: (formerAddresses[id] ?? []).filter { $0.expiresAt > now },
                links: links.values.filter { $0.accountID == id && $0.expiresAt > now }
            )
        }
    }

    /// Returns whether another account has an address now, or had the address before and can still restore it.
    func isTaken(_ email: EmailAddress, except id: Account.ID?, at now: Date) -> Bool {
        if let owner = addresses[email.normalized], owner != id { return true }
        return formerAddresses.contains { owner, former in
            owner != id && former.contains { $0.email == email && $0.expiresAt > now }
        }
    }

    /// Adds an account.
    /// - Returns: `false` if its address is taken.
    /// - Throws: ``StoreFailure`` if its id is taken.
    mutating func insert(_ account: Account, at now: Date) throws -> Bool {
        guard !isTaken(account.email, except: nil, at: now) else { return false }
        guard accounts[account.id] == nil else { throw StoreFailure(isBusy: false, message: "the id of an account is taken") }
        accounts[account.id] = account
        addresses[account.email.normalized] = account.id
        return true
    }

    /// Returns whether an account must be removed now. A deleted account must be removed when its grace time has ended. An unverified
    /// account must be removed if it was created before `unverifiedSince` and has not been used since then.
    fileprivate func isDue(_ account: Account, at now: Date, _ unverifiedSince: Date?) -> Bool {
        if let purgeAt = account.purgeAt { return purgeAt <= now }
        guard let cutoff = unverifiedSince, !account.isEmailVerified, account.createdAt < cutoff else { return false }
        let isInUse = sessions.values.contains { $0.session.accountID == account.id && $0.refreshedAt >= cutoff }
        return !isInUse && activity[account.id].map { $0 < cutoff } ?? true
    }

    /// Removes an account with everything that is stored about it.
    fileprivate mutating func remove(_ id: Account.ID, at now: Date) {
        guard let account = accounts.removeValue(forKey: id) else { return }
        // Some links and emails belong to an address and not to an account, because clients requested them without signing in. The method
        // removes the links and emails for the present address and for unexpired former addresses. Expired former addresses and unconfirmed
        // new addresses may belong to other users.
        let former = (formerAddresses[id] ?? []).filter { $0.expiresAt > now }.map(\.email)
        let emails = Set([account.email] + former)
        addresses[account.email.normalized] = nil
        endSessions(of: id)
        resetTokens = resetTokens.filter { $0.value.token.accountID != id }
        accountLockTokens = accountLockTokens.filter { $0.value.accountID != id }
        links = links.filter { $0.value.accountID != id && !emails.contains($0.value.recipient) }
        intents = intents.filter { _, found in
            let subject = found.intent.subject.columns
            return subject.account != id && !(subject.email.map(emails.contains) ?? false)
        }
        sentResets = sentResets.filter { $0.value.accountID != id }
        (formerAddresses[id], devices[id], activity[id], events[id]) = (nil, nil, nil, nil)
        unlistedPurges.append(ListedPurge(id: id, purgedAt: now))
    }
}
