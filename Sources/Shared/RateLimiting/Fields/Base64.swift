/// Base64 as byte sequences of structured fields have it (RFC 9651, section 3.3.5).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 { text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : 61) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads base64 with or without padding, in the plain or the URL alphabet.
    /// - Returns: `nil` if it isn't base64.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count, isPadded) = (UInt32(0), 0, false)
        for character in text {
            if character == 61 {
                isPadded = true
                continue
            }
            guard !isPadded, let value = value(of: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count % 4 != 1 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - UInt32((count + 3) % 4) * 2))) }
        }
        return count % 4 == 1 ? nil : bytes
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 65...90: character - 65
        case 97...122: character - 71
        case 48...57: character + 4
        case 43, 45: 62
        case 47, 95: 63
        default: nil
        }
    }
}
