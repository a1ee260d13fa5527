private import CSodium

extension Argon2id {
    /// Whether a text is an Argon2id hash of one lane that is whole and can be verified here at a bounded cost: at most 256 MiB and 10 passes.
    public static func isAffordable(_ hash: String) -> Bool {
        guard let cost = cost(of: hash) else { return false }
        return (8...262_144).contains(cost.kibibytes) && (1...10).contains(cost.passes)
    }

    /// A hash that no password has, and that takes as long to verify as another one; `nil` if that is none, or costs what new ones cost.
    public func decoy(like hash: String) -> String? {
        guard let cost = Self.cost(of: hash), needsRehash(hash) else { return nil }
        let salt = String(repeating: "A", count: 22)
        return "$argon2id$v=19$m=\(cost.kibibytes),t=\(cost.passes),p=1$\(salt)$" + String(repeating: "A", count: 43)
    }

    private static func cost(of hash: String) -> (kibibytes: Int, passes: Int)? {
        let pattern = /\$argon2id\$v=19\$m=([0-9]{1,7}),t=([0-9]{1,2}),p=1\$[A-Za-z0-9+\/]{11,64}\$[A-Za-z0-9+\/]{22,86}/
        guard hash.utf8.count < 128, let parts = hash.wholeMatch(of: pattern), let kibibytes = Int(parts.1),
            let passes = Int(parts.2)
        else { return nil }
        // Of what it can't read, such as bits too many at the end of a text, libsodium says so at once instead of taking its time.
        guard crypto_pwhash_str_needs_rehash(hash, 1, 8_192) >= 0 else { return nil }
        return (kibibytes, passes)
    }
}
