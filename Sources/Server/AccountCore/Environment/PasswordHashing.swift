/// Makes and checks password hashes. The calls are slow on purpose; they belong behind a ``HashingGate``.
public protocol PasswordHashing: Sendable {
    /// The hash of a password, with a salt of its own.
    func hash(_ password: String) throws -> String
    /// Whether a password has this hash, compared in constant time.
    func verify(_ password: String, against hash: String) -> Bool
    /// Whether a hash was made with weaker parameters than new ones are.
    func needsRehash(_ hash: String) -> Bool
    /// A hash that no password has and that takes as long to verify as one of another system or cost; `nil` for our own, and for
    /// what is no hash at all.
    func decoy(like hash: String) -> String?
}

extension PasswordHashing {
    /// All hashes are our own.
    public func decoy(like hash: String) -> String? { nil }
}
