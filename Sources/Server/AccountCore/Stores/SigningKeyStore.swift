/// Stores the keys that sign access tokens.
public protocol SigningKeyStore: Sendable {
    /// Returns the stored keys.
    func signingKeys() async throws -> SigningKeySet
    /// Replaces the keys by the result of a closure, in one transaction. Changes of several processes are applied one after the other.
    /// - Parameter change: Returns the new keys for the stored ones. It may be called more than once.
    /// - Returns: The new keys.
    /// - Throws: The error of the closure, after which nothing has changed; an error of the store.
    func changeSigningKeys(_ change: @escaping @Sendable (SigningKeySet) throws -> SigningKeySet) async throws -> SigningKeySet
}
