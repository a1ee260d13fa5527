import AccountContract
import Foundation
import ResilientHTTP

/// The device tokens of the accounts that signed in on this device.
///
/// If the store fails, for example because the keychain is locked, the token is lost, but the sign-in continues.
actor DeviceTokenBook {
    private struct Entry: Codable {
        var server: String
        /// The normalized address; `nil` after a reset with a link that doesn't contain it.
        var account: String?
        var token: DeviceToken
    }

    /// The largest number of stored tokens. If there are more, the oldest tokens are removed.
    private static let capacity = 16

    private let store: any SecretStore
    private let server: String
    /// The tokens that are not stored yet, oldest first.
    private var pending: [Entry] = []
    private var isWriting = false

    /// - Parameter server: The server of all accounts. Several servers may share the store.
    init(store: any SecretStore, server: URL) {
        self.store = store
        self.server = server.absoluteString
    }

    /// Returns the token to send with a sign-in: the newest token of the account, or of a reset whose address is unknown. The token of such
    /// a reset may belong to another account. In this case, the server ignores the token.
    func token(for email: EmailAddress) async -> DeviceToken? {
        let stored = (try? await load()) ?? []
        return (stored + pending).last { $0.server == server && [email.normalized, nil].contains($0.account) }?.token
    }

    /// Stores a token, and removes the earlier token of the account. Also removes a token that was stored without an address after a reset.
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
            // If the store can't be read, it may contain tokens of other accounts, so it is not overwritten.
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
