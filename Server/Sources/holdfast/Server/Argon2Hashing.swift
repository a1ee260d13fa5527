import AccountCore
import Argon2

/// Password hashes by Argon2id.
struct Argon2Hashing: PasswordHashing {
    private let argon2: Argon2id

    init(parameters: Argon2id.Parameters = .standard) throws {
        argon2 = try Argon2id(parameters: parameters)
    }

    func hash(_ password: String) throws -> String { try argon2.hash(password) }
    func verify(_ password: String, against hash: String) -> Bool { argon2.verify(password, against: hash) }
    func needsRehash(_ hash: String) -> Bool { argon2.needsRehash(hash) }
}
