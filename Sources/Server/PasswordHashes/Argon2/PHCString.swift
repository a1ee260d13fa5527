import Foundation

/// An Argon2id hash as text: `$argon2id$v=19$m=19456,t=2,p=1$` with the salt and the digest in Base64 without padding.
///
/// The initializer accepts only canonical texts: with one lane, without leading zeros, and with zeros as the unused bits of Base64.
struct PHCString: CustomStringConvertible {
    var kibibytes: Int
    var passes: Int
    var salt: [UInt8]
    var digest: [UInt8]

    init(kibibytes: Int, passes: Int, salt: [UInt8], digest: [UInt8]) {
        (self.kibibytes, self.passes, self.salt, self.digest) = (kibibytes, passes, salt, digest)
    }

    init?(_ text: String) {
        guard text.utf8.count < 128 else { return nil }
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 6 else { return nil }
        // m=…, t=… and p=…
        let costs = fields[3].split(separator: ",").map { Int($0.dropFirst(2)) }
        guard costs.count == 3, let kibibytes = costs[0], (8..<10_000_000).contains(kibibytes),
            let passes = costs[1], (1...99).contains(passes),
            let salt = Self.bytes(of: fields[4]), (8...48).contains(salt.count),
            let digest = Self.bytes(of: fields[5]), (16...64).contains(digest.count)
        else { return nil }
        self.init(kibibytes: kibibytes, passes: passes, salt: salt, digest: digest)
        guard description == text else { return nil }
    }

    var description: String {
        "$argon2id$v=19$m=\(kibibytes),t=\(passes),p=1$\(Self.text(of: salt))$\(Self.text(of: digest))"
    }

    private static func text(of bytes: [UInt8]) -> String {
        String(Data(bytes).base64EncodedString().prefix { $0 != "=" })
    }

    private static func bytes(of text: Substring) -> [UInt8]? {
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: String(padded)).map(Array.init)
    }
}
