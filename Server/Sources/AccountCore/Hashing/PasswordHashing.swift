/// Makes and checks password hashes. The calls are slow on purpose; they belong behind a ``HashingGate``.
public protocol PasswordHashing: Sendable {
    /// The hash of a password, with a salt of its own.
    func hash(_ password: String) throws -> String
    /// Whether a password has this hash, compared in constant time.
    func verify(_ password: String, against hash: String) -> Bool
    /// Whether a hash was made with weaker parameters than new ones are.
    func needsRehash(_ hash: String) -> Bool
}
