import AccountContract
package import Foundation

/// Formats and parses the text form of UUIDs in stores. Foundation's own methods use `sscanf` and `printf`, and take twenty times as long.
extension UUID {
    /// The text in lowercase.
    package var text: String { UserID(self).rawValue }

    /// Parses a text with lowercase or uppercase letters; `nil` if the text is not a UUID.
    package init?(text: String) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var place = 0
        for byte in text.utf8 {
            if place == 8 || place == 13 || place == 18 || place == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                let digit: UInt8
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
                default: return nil
                }
                // The text of the first eight bytes ends with the third hyphen.
                if place < 18 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
            }
            place += 1
            guard place <= 36 else { return nil }
        }
        guard place == 36 else { return nil }
        self = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
