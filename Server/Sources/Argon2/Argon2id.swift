private import CSodium

/// Argon2id (RFC 9106) by libsodium, with PHC strings.
public struct Argon2id: Sendable {
    /// How much work one hash is.
    public struct Parameters: Hashable, Sendable {
        /// The memory, in bytes.
        public let memory: Int
        /// How often the memory is passed over.
        public let passes: Int

        /// 19 MiB and 2 passes, the least that OWASP's Password Storage Cheat Sheet advises.
        public static let standard = Parameters(memory: 19 * 1_024 * 1_024, passes: 2)

        /// Creates parameters.
        /// - Precondition: at least 8 KiB and 1 pass, the least that libsodium takes.
        public init(memory: Int, passes: Int) {
            precondition(memory >= 8_192, "memory must be at least 8192 bytes (is \(memory))")
            precondition(passes >= 1, "passes must be positive (is \(passes))")
            self.memory = memory
            self.passes = passes
        }
    }

    /// libsodium could not be started, or there was not enough memory for a hash.
    public struct Failure: Error, Hashable, Sendable {}

    private let parameters: Parameters

    /// Prepares libsodium.
    /// - Throws: ``Failure`` if it can't be started.
    public init(parameters: Parameters = .standard) throws(Failure) {
        guard sodium_init() >= 0 else { throw Failure() }
        self.parameters = parameters
    }

    /// The hash of a password with a random salt, as a PHC string. Blocks for about 16 ms with the standard parameters.
    public func hash(_ password: String) throws(Failure) -> String {
        var output = [CChar](repeating: 0, count: Int(crypto_pwhash_strbytes()))
        let status = password.withCString { text in
            crypto_pwhash_str_alg(
                &output,
                text,
                UInt64(password.utf8.count),
                UInt64(parameters.passes),
                parameters.memory,
                crypto_pwhash_alg_argon2id13()
            )
        }
        guard status == 0 else { throw Failure() }
        return String(decoding: output.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether a password has a hash, compared in constant time. A text that is no hash matches nothing.
    public func verify(_ password: String, against hash: String) -> Bool {
        // libsodium reads the hash as a C string of bounded length.
        guard hash.utf8.count < Int(crypto_pwhash_strbytes()), !hash.utf8.contains(0) else { return false }
        return password.withCString { text in
            crypto_pwhash_str_verify(hash, text, UInt64(password.utf8.count)) == 0
        }
    }

    /// Whether a hash was made with other parameters than new ones are.
    public func needsRehash(_ hash: String) -> Bool {
        guard hash.utf8.count < Int(crypto_pwhash_strbytes()) else { return true }
        return crypto_pwhash_str_needs_rehash(hash, UInt64(parameters.passes), parameters.memory) != 0
    }
}
