/// Creates and verifies password hashes.
///
/// The calls are slow on purpose and block their thread, so call them through a ``HashingGate``. The gate calls them on several threads at
/// the same time, so an implementation must be thread-safe.
public protocol PasswordHashing: Sendable {
    /// Returns the hash of a password, with a new salt.
    /// - Parameter password: The password in Unicode's composed form (NFC), to which ``HashingGate`` normalizes it.
    /// - Throws: An error of the implementation, for example if there is not enough memory.
    func hash(_ password: String) throws -> String
    /// Returns whether a password matches a hash. The comparison takes constant time.
    /// - Parameters:
    ///   - password: The password.
    ///   - hash: The stored hash. An unknown format never matches.
    func verify(_ password: String, against hash: String) -> Bool
    /// Returns whether a hash has other parameters than new hashes. If so, ``Authentication`` replaces the hash at the next sign-in with
    /// the right password. Only then does the server know the password.
    func needsRehash(_ hash: String) -> Bool
    /// Returns a decoy: a hash that no password matches, and whose verification takes as long as the verification of the given hash.
    /// Returns `nil` if the given hash has the parameters of new hashes, or if it is not a hash.
    ///
    /// A server verifies decoys for addresses without an account, so that the time of a sign-in doesn't disclose which addresses have an
    /// imported hash; see ``DecoyMix``.
    func decoy(like hash: String) -> String?
}

extension PasswordHashing {
    /// Returns `nil`. This default is for implementations whose hashes all have the same parameters.
    public func decoy(like hash: String) -> String? { nil }
}
