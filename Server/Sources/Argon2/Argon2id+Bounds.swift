extension Argon2id {
    /// Whether a text is an Argon2id hash of one lane that can be verified here at a bounded cost: at most 256 MiB and 10 passes.
    public static func isAffordable(_ hash: String) -> Bool {
        let pattern = /\$argon2id\$v=19\$m=([0-9]{1,7}),t=([0-9]{1,2}),p=1\$[A-Za-z0-9+\/]{11,64}\$[A-Za-z0-9+\/]{22,86}/
        guard hash.utf8.count < 128, let parts = hash.wholeMatch(of: pattern), let memory = Int(parts.1),
            let passes = Int(parts.2)
        else { return false }
        return (8...262_144).contains(memory) && (1...10).contains(passes)
    }
}
