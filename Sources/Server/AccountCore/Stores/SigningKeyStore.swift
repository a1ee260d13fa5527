/// Stores the keys that sign access tokens.
public protocol SigningKeyStore: Sendable {
    /// Returns the stored keys.
    func signingKeys() async throws -> SigningKeySet
    /// Replaces the keys by the result of a closure, in one transaction. The store applies the changes of several processes one after the
    /// other.
    /// - Parameter change: Receives the stored keys and returns the new keys. The store may call the closure more than once.
    /// - Returns: The new keys.
    /// - Throws: The error of the closure, or an error of the store. If the closure throws, no key is changed.
    func changeSigningKeys(_ change: @escaping @Sendable (SigningKeySet) throws -> SigningKeySet) async throws -> SigningKeySet
}
