import AccountContract
import Foundation
import ResilientHTTP

/// The device tokens of the accounts that signed in on this device.
///
/// A store that fails, such as a locked keychain, costs the token and never the sign-in.
actor DeviceTokenBook {
    private struct Entry: Codable {
        var server: String
        /// The normalized address; `nil` after a reset by a link that doesn't name it.
        var account: String?
        var token: DeviceToken
    }

    /// The oldest of more tokens are removed.
    private static let capacity = 16

    private let store: any SecretStore
    private let server: String
    /// The tokens that are not stored yet, oldest first.
    private var pending: [Entry] = []
    private var isWriting = false

    /// - Parameter server: The server of all accounts; the store may be that of several servers.
    init(store: any SecretStore, server: URL) {
        self.store = store
        self.server = server.absoluteString
    }

    /// The token to send with a sign-in: the newest one of the account, or of a reset without an address. The server ignores the token of
    /// another account.
    func token(for email: EmailAddress) async -> DeviceToken? {
        let stored = (try? await load()) ?? []
        return (stored + pending).last { $0.server == server && [email.normalized, nil].contains($0.account) }?.token
    }

    /// Stores a token in place of the account's earlier one. The token of a sign-in also replaces that of a reset without an address.
    /// - Parameters:
    ///   - token: The token; `nil` changes nothing.
    ///   - email: The account; `nil` if it is not known.
    func keep(_ token: DeviceToken?, for email: EmailAddress?) async {
        guard let token else { return }
        pending.append(Entry(server: server, account: email?.normalized, token: token))
        guard !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        while !pending.isEmpty {
            let count = pending.count
            // A store that can't be read may hold tokens of other accounts: it is not overwritten.
            if var entries = try? await load() {
                for entry in pending.prefix(count) {
                    entries.removeAll { $0.server == entry.server && [entry.account, nil].contains($0.account) }
                    entries.append(entry)
                }
                if let secret = try? JSONEncoder().encode(Array(entries.suffix(Self.capacity))) {
                    try? await store.saveSecret(secret)
                }
            }
            pending.removeFirst(count)
        }
    }

    private func load() async throws -> [Entry] {
        guard let data = try await store.loadSecret() else { return [] }
        return (try? JSONDecoder().decode([Entry].self, from: data)) ?? []
    }
}
