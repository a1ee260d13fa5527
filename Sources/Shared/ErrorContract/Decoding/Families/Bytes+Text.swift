/// Looking for ASCII texts in bytes, without making characters of them.
extension UnsafeBufferPointer<UInt8> {
    /// Whether a text stands at a place.
    /// - Parameters:
    ///   - text: An ASCII text; in lower case if the case does not matter.
    ///   - index: The place.
    ///   - ignoringCase: Whether upper-case letters count as lower-case ones.
    func stands(_ text: StaticString, at index: Int, ignoringCase: Bool = false) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count - index >= length else { return false }
        for offset in 0..<length {
            let byte = self[index + offset]
            let isUpper = ignoringCase && (0x41...0x5A).contains(byte)
            guard (isUpper ? byte | 0x20 : byte) == text.utf8Start[offset] else { return false }
        }
        return true
    }

    /// The first place of a text.
    func firstIndex(of text: StaticString) -> Int? {
        indices.first { stands(text, at: $0) }
    }

    /// Whether the bytes begin as markup does, in UTF-8 or UTF-16, whatever byte order mark stands before it.
    var beginAsMarkup: Bool {
        let start = first { byte in
            switch byte {
            case 0x09, 0x0A, 0x0D, 0x20, 0x00, 0xEF, 0xBB, 0xBF, 0xFE, 0xFF: false
            default: true
            }
        }
        return start == UInt8(ascii: "<")
    }
}
