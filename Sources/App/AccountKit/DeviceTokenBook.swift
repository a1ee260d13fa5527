import AccountContract
import Foundation
import ResilientHTTP

/// Stores the device tokens of the accounts that signed in on this device. If a sign-in contains a device token, failed attempts on other
/// devices don't block this sign-in.
///
/// If the store fails, for example because the keychain is locked, the token is lost, but the sign-in continues.
actor DeviceTokenBook {
    private struct Entry: Codable {
        var server: String
        /// The normalized address; `nil` after a reset with a link that doesn't contain the address.
        var account: String?
        var token: DeviceToken
    }

    /// The maximum number of stored tokens. If there are more, the actor removes the oldest tokens.
    private static let capacity = 16

    private let store: any SecretStore
    private let server: String
    /// The tokens that are not stored yet, oldest first.
    private var pending: [Entry] = []
    private var isWriting = false

    /// - Parameter server: The address of the account server. Several servers can share the store.
    init(store: any SecretStore, server: URL) {
        self.store = store
        self.server = server.absoluteString
    }

    /// Returns the newest token that was stored for the account, or by a password reset without an address. The client sends the token with
    /// a sign-in. If a token without an address belongs to another account, the server ignores it.
    func token(for email: EmailAddress) async -> DeviceToken? {
        let stored = (try? await load()) ?? []
        return (stored + pending).last { $0.server == server && [email.normalized, nil].contains($0.account) }?.token
    }

    /// Stores a token. The method removes the account's earlier token. It also removes the server's token without an address, if there is
    /// one. Such a token is stored after a password reset if the link of the reset doesn't contain the address.
    /// - Parameters:
    ///   - token: The token; `nil` changes nothing.
    ///   - email: The account; `nil` if it is unknown.
    func keep(_ token: DeviceToken?, for email: EmailAddress?) async {
        guard let token else { return }
        pending.append(Entry(server: server, account: email?.normalized, token: token))
        guard !isWriting else { return }
        isWriting = true
        defer { isWriting = false }
        while !pending.isEmpty {
            let count = pending.count
            // If the store can't be read, it may contain tokens of other accounts. The actor therefore doesn't overwrite it.
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
