public import Logging

/// The last guard before a log: nothing that looks like an address or a secret passes. What writes to the log must not rely on it.
///
/// Masked are e-mail addresses, also with `%40`; what follows `Bearer` and `Basic`; JSON Web Tokens; runs of 43 characters or more of
/// base64url, which is how 256 random bits are written.
public enum LogRedaction {
    static let hidden = "[hidden]"
    private static let address = "[address]"
    private static let token = "[token]"

    /// The text with everything masked that looks secret. O(n).
    public static func masked(_ text: String) -> String {
        guard mayHoldSecret(text) else { return text }
        let bytes = Array(text.utf8)
        var masked: [UInt8] = []
        var copied = 0
        func replace(_ range: Range<Int>, with word: String) {
            masked += bytes[copied..<range.lowerBound]
            masked += Array(word.utf8)
            copied = range.upperBound
        }
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if let sign = signLength(bytes, index), let range = addressRange(bytes, index, sign, from: copied) {
                replace(range, with: address)
                index = range.upperBound
            } else if byte.isWord, index == 0 || !bytes[index - 1].isWord {
                let end = endOfRun(bytes, index)
                if let credential = credentialRange(bytes, index..<end) {
                    replace(credential, with: hidden)
                    index = credential.upperBound
                } else if let range = tokenRange(bytes, index..<end) {
                    replace(range, with: token)
                    index = range.upperBound
                } else {
                    index = end
                }
            } else {
                index += 1
            }
        }
        guard copied > 0 else { return text }
        masked += bytes[copied...]
        return String(decoding: masked, as: UTF8.self)
    }

    /// Whether the text has to be looked at closely; nearly none has.
    private static func mayHoldSecret(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var run = 0
            for index in bytes.indices {
                let byte = bytes[index]
                if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "%") { return true }
                run = byte.isWord ? run + 1 : 0
                if run == 43 { return true }
                // What `Bearer`, `Basic` and a JSON Web Token begin with.
                guard run == 3 else { continue }
                let (first, second) = (bytes[index - 2] | 0x20, bytes[index - 1] | 0x20)
                if first == UInt8(ascii: "b"), second == UInt8(ascii: "e") || second == UInt8(ascii: "a") { return true }
                if first == UInt8(ascii: "e"), second == UInt8(ascii: "y") { return true }
            }
            return false
        }
    }

    /// Whether what has this name is not to be shown, whatever it is.
    static func isSecret(key: String) -> Bool {
        var key = key
        return key.withUTF8 { key in
            let begin = key.lastIndex { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }.map { $0 + 1 } ?? 0
            return secretWords.contains { equals(key[begin...], $0) }
        }
    }

    private static let secretWords: [StaticString] = [
        "password", "secret", "authorization", "cookie", "token", "email", "address",
    ]

    private static func endOfRun(_ bytes: [UInt8], _ start: Int) -> Int {
        bytes[start...].firstIndex { !$0.isWord } ?? bytes.count
    }

    /// The length of an at-sign, plain or escaped.
    private static func signLength(_ bytes: [UInt8], _ index: Int) -> Int? {
        if bytes[index] == UInt8(ascii: "@") { return 1 }
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return nil }
        return bytes[index + 1] == UInt8(ascii: "4") && bytes[index + 2] == UInt8(ascii: "0") ? 3 : nil
    }

    private static func addressRange(_ bytes: [UInt8], _ sign: Int, _ length: Int, from copied: Int) -> Range<Int>? {
        var begin = sign
        // An address has 254 bytes at most; without a bound many signs would take quadratic time.
        while begin > max(copied, sign - 256), bytes[begin - 1].isAddress { begin -= 1 }
        var end = sign + length
        while end < bytes.count, bytes[end].isDomain { end += 1 }
        return begin < sign && end > sign + length ? begin..<end : nil
    }

    /// What follows a scheme of HTTP authentication.
    private static func credentialRange(_ bytes: [UInt8], _ word: Range<Int>) -> Range<Int>? {
        guard equals(bytes[word], "bearer") || equals(bytes[word], "basic") else { return nil }
        var begin = word.upperBound
        while begin < bytes.count, bytes[begin] == UInt8(ascii: " ") || bytes[begin] == UInt8(ascii: ":") { begin += 1 }
        var end = begin
        while end < bytes.count, bytes[end].isCredential { end += 1 }
        // A word of a sentence is no credential.
        return begin > word.upperBound && end - begin >= 8 ? begin..<end : nil
    }

    /// Whether a word is a name in lower-case letters, in either case.
    private static func equals(_ word: some Collection<UInt8>, _ name: StaticString) -> Bool {
        guard word.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { zip(word, $0).allSatisfy { $0 | 0x20 == $1 } }
    }

    private static func tokenRange(_ bytes: [UInt8], _ run: Range<Int>) -> Range<Int>? {
        if bytes[run].starts(with: "eyJ".utf8), run.upperBound < bytes.count, bytes[run.upperBound] == UInt8(ascii: ".") {
            var end = run.upperBound
            while end < bytes.count, bytes[end].isWord || bytes[end] == UInt8(ascii: ".") { end += 1 }
            return run.lowerBound..<end
        }
        return run.count >= 43 ? run : nil
    }
}

extension UInt8 {
    /// Letters, digits, `-` and `_`: base64url.
    fileprivate var isWord: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    /// What may stand before an at-sign; beyond ASCII anything.
    fileprivate var isAddress: Bool { isWord || self >= 0x80 || ".%+'!#$*^`~".utf8.contains(self) }
    fileprivate var isDomain: Bool { isWord || self >= 0x80 || self == UInt8(ascii: ".") }
    fileprivate var isCredential: Bool { isWord || ".~+/=".utf8.contains(self) }
}

/// An error whose description may stand in a log: it holds no secret, no address, nothing that a person has typed.
public protocol LogSafeError: Error, CustomStringConvertible {}

extension Logger.Metadata {
    /// What a log tells of an error: its type, and what it says of itself if that is safe to keep.
    /// - Parameter more: What stands beside it.
    public static func failure(_ error: any Error, _ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["error.type": "\(type(of: error))"]
        if let error = error as? any LogSafeError { metadata["error.message"] = "\(error)" }
        return metadata.merging(more) { _, more in more }
    }
}
