private import CArgon2

/// A hasher that computes and verifies Argon2id hashes (RFC 9106) with libargon2, the reference implementation. A hash is a text of the
/// form `$argon2id$…` (a PHC string) with one lane.
///
/// Hashes with the standard parameters reuse blocks of 19 MiB. The process keeps at most one unused block per core. See
/// docs/decisions/0093-argon2-with-reused-memory.md.
///
/// ```swift
/// let argon2 = Argon2id(parameters: .init(memory: 8 * 1_024 * 1_024, passes: 1))
/// let hash = try argon2.hash("correct horse battery")
/// print(argon2.verify("correct horse battery", against: hash))
/// ```
/// The methods block their thread and use one core. Call the methods from a thread pool, and limit the number of concurrent calls. To
/// verify hashes of other systems, use ``ImportedHash``.
public struct Argon2id: Sendable {
    /// The cost of a hash.
    public struct Parameters: Hashable, Sendable {
        /// The memory in bytes, rounded down to whole KiB.
        public let memory: Int
        /// The number of passes over the memory. The time of a hash is proportional to this number.
        public let passes: Int

        /// 19 MiB and 2 passes, the minimum of OWASP's Password Storage Cheat Sheet.
        public static let standard = Parameters(memory: 19 * 1_024 * 1_024, passes: 2)

        /// Creates parameters.
        /// - Parameters:
        ///   - memory: The memory in bytes, at least 8,192, which is the minimum of Argon2. ``Argon2id/verify(_:against:)`` accepts only
        ///     hashes with less than 10,000,000 KiB.
        ///   - passes: The number of passes, from 1 to 99.
        /// - Precondition: `memory` is at least 8,192 and `passes` at least 1.
        public init(memory: Int, passes: Int) {
            precondition(memory >= 8_192, "memory must be at least 8192 bytes (is \(memory))")
            precondition(passes >= 1, "passes must be positive (is \(passes))")
            self.memory = memory
            self.passes = passes
        }
    }

    /// The error of ``Argon2id/hash(_:)`` if there is not enough memory.
    public struct Failure: Error, Hashable, Sendable {}

    private let parameters: Parameters

    /// Creates a hasher for new hashes with these parameters. The hasher verifies hashes with any parameters.
    public init(parameters: Parameters = .standard) {
        self.parameters = parameters
    }

    /// Returns the hash of a password with a random salt of 16 bytes, as a PHC string. The standard parameters block for about 20 ms.
    /// - Throws: ``Failure`` if there is not enough memory.
    public func hash(_ password: String) throws(Failure) -> String {
        var random = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let digest = [UInt8](repeating: 0, count: 32)
        var hash = PHCString(kibibytes: parameters.memory / 1_024, passes: parameters.passes, salt: salt, digest: digest)
        let status = hash.withContext(for: password) { argon2id_ctx(&$0) }
        guard status == ARGON2_OK.rawValue else { throw Failure() }
        return hash.description
    }

    /// Returns whether a password matches a hash. The comparison of the digests takes constant time. The call blocks the thread for the
    /// time of one hash computation. Before you store a hash from another system, check it with ``isAffordable(_:)``.
    /// - Returns: `false` also if the text is not a hash in canonical form, or if there is not enough memory.
    public func verify(_ password: String, against hash: String) -> Bool {
        guard var hash = PHCString(hash) else { return false }
        let expected = hash.digest.map { CChar(bitPattern: $0) }
        return hash.withContext(for: password) { argon2id_verify_ctx(&$0, expected) } == ARGON2_OK.rawValue
    }

    /// Returns whether a hash has other parameters than new hashes. If so, replace the hash at the next sign-in. The result is also `true`
    /// if the text is not an Argon2id hash in canonical form.
    public func needsRehash(_ hash: String) -> Bool {
        guard let hash = PHCString(hash) else { return true }
        return hash.kibibytes != parameters.memory / 1_024 || hash.passes != parameters.passes
    }

    /// Returns whether a text is an Argon2id hash whose verification has a limited cost. The text must be complete, have one lane, and need
    /// at most 256 MiB and 10 passes.
    public static func isAffordable(_ hash: String) -> Bool {
        guard let hash = PHCString(hash) else { return false }
        return hash.kibibytes <= 262_144 && hash.passes <= 10
    }

    /// Returns a decoy: a hash that no password matches, and whose verification takes as long as the verification of the given hash. Verify
    /// the decoy for unknown accounts, so that the time of a response doesn't show which accounts exist.
    /// - Returns: `nil` if the text is not an Argon2id hash, or if the given hash has the parameters of new hashes.
    public func decoy(like hash: String) -> String? {
        guard let other = PHCString(hash), needsRehash(hash) else { return nil }
        let zeros = { [UInt8](repeating: 0, count: $0) }
        return PHCString(kibibytes: other.kibibytes, passes: other.passes, salt: zeros(16), digest: zeros(32)).description
    }
}

extension PHCString {
    /// Calls libargon2 with a password and with the parameters and the salt of this hash. Replaces the digest of this hash with the result.
    /// - Returns: The status of libargon2.
    fileprivate mutating func withContext(for password: String, _ body: (inout argon2_context) -> Int32) -> Int32 {
        var password = Array(password.utf8)
        return password.withUnsafeMutableBufferPointer { password in
            salt.withUnsafeMutableBufferPointer { salt in
                digest.withUnsafeMutableBufferPointer { digest in
                    var context = argon2_context()
                    (context.out, context.outlen) = (digest.baseAddress, UInt32(digest.count))
                    (context.pwd, context.pwdlen) = (password.baseAddress, UInt32(password.count))
                    (context.salt, context.saltlen) = (salt.baseAddress, UInt32(salt.count))
                    (context.m_cost, context.t_cost) = (UInt32(kibibytes), UInt32(passes))
                    (context.lanes, context.threads) = (1, 1)
                    context.version = UInt32(ARGON2_VERSION_13.rawValue)
                    context.allocate_cbk = { memory, size in
                        memory?.pointee = HashMemory.shared.take(size)?.assumingMemoryBound(to: UInt8.self)
                        return 0
                    }
                    context.free_cbk = { memory, size in
                        if let memory { HashMemory.shared.give(memory, size) }
                    }
                    return body(&context)
                }
            }
        }
    }
}
