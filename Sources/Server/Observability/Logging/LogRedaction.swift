public import Logging

/// Masks parts of a log text that look like an address or a secret. The masking is a last safeguard: code must not log secrets in the first
/// place.
///
/// ``masked(_:)`` replaces these parts:
///
/// - Email addresses, also with `%40` instead of the at sign.
/// - The credential after `Bearer` and `Basic`.
/// - JSON Web Tokens.
/// - base64url texts of 43 characters or more. A text of 43 characters encodes 256 random bits.
///
/// ``LineLogHandler`` also hides the whole value of a metadata key whose last part is a word such as `password`, `token` or `email`.
///
/// ```swift
/// LogRedaction.masked("reset for ana@example.com")  // "reset for [address]"
/// ```
///
/// The function doesn't detect shorter secrets, names and phone numbers.
public enum LogRedaction {
    /// The text that replaces a credential.
    static let hidden = "[hidden]"
    private static let address = "[address]"
    private static let token = "[token]"

    /// Returns a text in which addresses and secrets are masked.
    /// - Parameter text: Any text. The function also masks an identifier of 43 or more word characters that is not a secret.
    /// - Returns: The text with masked parts; the same text if there is nothing to mask.
    /// - Complexity: O(*n*). The function scans most texts only once and returns them unchanged.
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

    /// Returns whether the text may contain a secret. If not, no search is necessary. The result is `false` for most texts.
    private static func mayHoldSecret(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var run = 0
            for index in bytes.indices {
                let byte = bytes[index]
                if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "%") { return true }
                run = byte.isWord ? run + 1 : 0
                if run == 43 { return true }
                // The beginnings of `Bearer`, `Basic` and a JSON Web Token.
                guard run == 3 else { continue }
                let (first, second) = (bytes[index - 2] | 0x20, bytes[index - 1] | 0x20)
                if first == UInt8(ascii: "b"), second == UInt8(ascii: "e") || second == UInt8(ascii: "a") { return true }
                if first == UInt8(ascii: "e"), second == UInt8(ascii: "y") { return true }
            }
            return false
        }
    }

    /// Returns whether a byte can be part of a secret or an address, so that a text must not be cut before this byte.
    static func mayBeOfSecret(_ byte: UInt8) -> Bool { byte.isAddress || byte.isCredential || byte == UInt8(ascii: "@") }

    /// Returns whether the handler always hides the value of a key, because the last part of the key is one of the secret words. The last
    /// part begins after the last dot or underscore. The comparison ignores case.
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

    /// Returns the end of the word that begins at an index.
    private static func endOfRun(_ bytes: [UInt8], _ start: Int) -> Int {
        bytes[start...].firstIndex { !$0.isWord } ?? bytes.count
    }

    /// Returns the length of the at sign at an index: 1 for `@`, or 3 for `%40`. Returns `nil` if there is no at sign.
    private static func signLength(_ bytes: [UInt8], _ index: Int) -> Int? {
        if bytes[index] == UInt8(ascii: "@") { return 1 }
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return nil }
        return bytes[index + 1] == UInt8(ascii: "4") && bytes[index + 2] == UInt8(ascii: "0") ? 3 : nil
    }

    /// Returns the range of the email address around an at sign; `nil` if there is none.
    /// - Parameters:
    ///   - sign: The index of the at sign.
    ///   - length: The length of the at sign: 1, or 3 if it is escaped.
    ///   - copied: The end of the previous masked part. The range begins at or after this index.
    private static func addressRange(_ bytes: [UInt8], _ sign: Int, _ length: Int, from copied: Int) -> Range<Int>? {
        var begin = sign
        // An email address has at most 254 bytes, so the search goes back at most 256 bytes. Without this limit, a text with many at signs
        // would take quadratic time.
        while begin > max(copied, sign - 256), bytes[begin - 1].isAddress { begin -= 1 }
        var end = sign + length
        while end < bytes.count, bytes[end].isDomain { end += 1 }
        return begin < sign && end > sign + length ? begin..<end : nil
    }

    /// Returns the range of the credential after a scheme of HTTP authentication; `nil` if the word is not a scheme, or if fewer than 8
    /// characters follow.
    private static func credentialRange(_ bytes: [UInt8], _ word: Range<Int>) -> Range<Int>? {
        guard equals(bytes[word], "bearer") || equals(bytes[word], "basic") else { return nil }
        var begin = word.upperBound
        while begin < bytes.count, bytes[begin] == UInt8(ascii: " ") || bytes[begin] == UInt8(ascii: ":") { begin += 1 }
        var end = begin
        while end < bytes.count, bytes[end].isCredential { end += 1 }
        // Fewer than 8 characters are probably a word of a sentence.
        return begin > word.upperBound && end - begin >= 8 ? begin..<end : nil
    }

    /// Returns whether a word equals a lowercase name, ignoring case.
    private static func equals(_ word: some Collection<UInt8>, _ name: StaticString) -> Bool {
        guard word.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { zip(word, $0).allSatisfy { $0 | 0x20 == $1 } }
    }

    /// Returns the range of the JSON Web Token or the base64url text that begins with a word; `nil` if there is none.
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
    /// Whether the byte is a letter, a digit, `-` or `_` (base64url).
    fileprivate var isWord: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    /// Whether the byte may precede the at sign in an address. All bytes beyond ASCII may.
    fileprivate var isAddress: Bool { isWord || self >= 0x80 || ".%+'!#$*^`~".utf8.contains(self) }
    /// Whether the byte may follow an at sign in an address.
    fileprivate var isDomain: Bool { isWord || self >= 0x80 || self == UInt8(ascii: ".") }
    /// Whether the byte may be part of a credential (RFC 6750 §2.1).
    fileprivate var isCredential: Bool { isWord || ".~+/=".utf8.contains(self) }
}

/// An error whose description may appear in logs, because it contains no secret, no address and no user input.
///
/// Conform an error type only if no case of the type contains such data. For any other error, `Logger.Metadata.failure(_:_:)` logs only the
/// type.
public protocol LogSafeError: Error, CustomStringConvertible {}

extension Logger.Metadata {
    /// Returns the log metadata of an error. `error.type` is the type of the error. If the error is a ``LogSafeError``, `error.message` is
    /// its description.
    ///
    /// ```swift
    /// logger.error("Session refresh failed", metadata: .failure(error, ["http.status": "503"]))
    /// ```
    /// - Parameters:
    ///   - error: The error.
    ///   - more: Further metadata. It replaces values with equal keys.
    public static func failure(_ error: any Error, _ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["error.type": "\(type(of: error))"]
        if let error = error as? any LogSafeError { metadata["error.message"] = "\(error)" }
        return metadata.merging(more) { _, more in more }
    }
}
