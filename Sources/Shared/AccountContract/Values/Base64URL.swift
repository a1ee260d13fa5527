/// Base64url without padding (RFC 4648 §5): the alphabet of tokens.
package enum Base64URL {
    /// Returns the text of bytes: four letters for three bytes, without padding. O(length).
    package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        // Calls from other modules are not specialized for the type of the sequence. The pointer avoids a method call for each byte.
        bytes.withContiguousStorageIfAvailable(text(of:)) ?? Array(bytes).withUnsafeBufferPointer(text(of:))
    }

    private static func text(of bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { letters in
            var count = 0
            for first in stride(from: 0, to: bytes.count, by: 3) {
                let rest = min(3, bytes.count - first)
                var group = UInt32(bytes[first]) << 16
                if rest > 1 { group |= UInt32(bytes[first + 1]) << 8 }
                if rest > 2 { group |= UInt32(bytes[first + 2]) }
                // One byte takes two letters, two bytes take three, and three bytes take four.
                for place in 0...rest { letters[count + place] = alphabet.utf8Start[Int(group >> (18 - 6 * place)) & 63] }
                count += rest + 1
            }
            return count
        }
    }

    /// The letters of the values 0 to 63.
    private static let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    /// Decodes a Base64url text. Only texts that ``encoded(_:)`` can return are valid, so each sequence of bytes has exactly one valid
    /// text. A text with padding or with the letters `+` or `/` is invalid. If the last letter has unused bits, these bits must be 0.
    /// - Returns: The bytes; `nil` if the text is invalid.
    package static func decoded(_ text: some StringProtocol) -> [UInt8]? { decoded(text.utf8) }

    /// Decodes a Base64url text in ASCII. O(length).
    /// - Returns: The bytes; `nil` if the text is invalid.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let bytes = text.withContiguousStorageIfAvailable(bytes(of:)) { return bytes }
        return Array(text).withUnsafeBufferPointer(bytes(of:))
    }

    private static func bytes(of text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (buffer, bits): (UInt16, Int) = (0, 0)
        for letter in text {
            guard let value = value(of: letter) else { return nil }
            (buffer, bits) = (buffer << 6 | UInt16(value), bits + 6)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        // If six bits remain, the last letter is redundant, because it doesn't complete a byte.
        return bits < 6 && buffer & (1 << bits - 1) == 0 ? bytes : nil
    }

    /// Returns the six bits of a letter; `nil` for any other byte.
    private static func value(of letter: UInt8) -> UInt8? {
        switch letter {
        case 0x41...0x5A: letter - 0x41
        case 0x61...0x7A: letter - 0x61 + 26
        case 0x30...0x39: letter - 0x30 + 52
        case 0x2D: 62
        case 0x5F: 63
        default: nil
        }
    }
}
