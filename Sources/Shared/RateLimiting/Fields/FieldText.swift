/// Writes the text of a field byte by byte, into memory that is large enough for all of it.
struct FieldText: ~Copyable {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var end = 0

    /// Returns the text that a closure writes.
    /// - Parameter capacity: At least as many bytes as it writes.
    static func text(capacity: Int, _ write: (inout FieldText) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { memory in
            var text = FieldText(memory)
            write(&text)
            return String(decoding: memory[..<text.end], as: UTF8.self)
        }
    }

    /// The largest number of bytes of a quoted text: each of its bytes may need a backslash.
    static func quotedCapacity(_ text: String) -> Int { 2 * text.utf8.count + 2 }

    /// The largest number of digits of a number.
    static let numberCapacity = 20

    private init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
    }

    /// Whether nothing has been written.
    var isEmpty: Bool { end == 0 }

    mutating func add(_ text: StaticString) {
        text.withUTF8Buffer { for byte in $0 { add(byte) } }
    }

    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
    }

    /// Adds a number that is not negative.
    mutating func add(number: Int) {
        var rest = UInt(number)
        let start = end
        repeat {
            add(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        memory[start..<end].reverse()
    }

    /// Adds a string of a structured field (RFC 9651, section 3.3.3). A character that it can't carry becomes `_`.
    mutating func add(quoted text: String) {
        add(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                add(UInt8(ascii: "\\"))
                add(byte)
            case 0x20...0x7E: add(byte)
            // All but the first byte of a character beyond ASCII.
            case 0x80...0xBF: continue
            default: add(UInt8(ascii: "_"))
            }
        }
        add(UInt8(ascii: "\""))
    }

    private mutating func add(_ byte: UInt8) {
        memory[end] = byte
        end += 1
    }
}
