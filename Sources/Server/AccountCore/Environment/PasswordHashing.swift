/// Creates and verifies password hashes.
///
/// The calls are slow on purpose, and block their thread; make them through a ``HashingGate``. They are made on several threads at the same
/// time.
public protocol PasswordHashing: Sendable {
    /// Returns the hash of a password, with a new salt.
    /// - Throws: An error of the implementation, for example if there is no memory.
    func hash(_ password: String) throws -> String
    /// Returns whether a password has this hash. Compares in constant time.
    /// - Parameters:
    ///   - password: The password.
    ///   - hash: The stored hash. An unknown format never matches.
    func verify(_ password: String, against hash: String) -> Bool
    /// Whether a hash has weaker parameters than new hashes.
    func needsRehash(_ hash: String) -> Bool
    /// Returns a hash that no password has and that takes as long to verify as the given one; `nil` if that has the parameters of new
    /// hashes, or is not a hash.
    func decoy(like hash: String) -> String?
}

extension PasswordHashing {
    /// Returns `nil`: all hashes have the parameters of new ones.
    public func decoy(like hash: String) -> String? { nil }
}
