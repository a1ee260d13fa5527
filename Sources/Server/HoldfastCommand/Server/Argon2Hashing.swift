import AccountCore
import PasswordHashes

/// Password hashes by Argon2id. Those of other systems are verified as they are, and made anew at the next sign-in.
struct Argon2Hashing: PasswordHashing {
    private let argon2: Argon2id

    init(parameters: Argon2id.Parameters = .standard) {
        argon2 = Argon2id(parameters: parameters)
    }

    func hash(_ password: String) throws -> String { try argon2.hash(password) }

    func verify(_ password: String, against hash: String) -> Bool {
        guard !hash.hasPrefix("$argon2") else { return argon2.verify(password, against: hash) }
        return (try? ImportedHash(hash))?.verify(password) ?? false
    }

    func needsRehash(_ hash: String) -> Bool { argon2.needsRehash(hash) }

    func decoy(like hash: String) -> String? {
        hash.hasPrefix("$argon2") ? argon2.decoy(like: hash) : (try? ImportedHash(hash))?.decoy
    }
}
