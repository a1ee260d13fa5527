import Timekeeping

/// Writes the text of a field byte by byte into a buffer of fixed size. The caller passes the size, which must be large enough for the
/// text.
struct FieldText: ~Copyable {
    /// The buffer. It is valid only during the closure of ``text(capacity:_:)``.
    private let memory: UnsafeMutableBufferPointer<UInt8>
    /// The number of written bytes.
    private(set) var end = 0

    /// Returns the text that a closure writes.
    /// - Parameter capacity: The size of the buffer, at least the number of bytes that the closure writes.
    static func text(capacity: Int, _ write: (inout FieldText) -> Void) -> String {
        String(unsafeUninitializedCapacity: capacity) { memory in
            var text = FieldText(memory)
            write(&text)
            return text.end
        }
    }

    /// Returns the maximum number of bytes of a quoted text: each of its bytes may need a backslash.
    static func quotedCapacity(_ text: String) -> Int { 2 * text.utf8.count + 2 }

    /// The maximum number of digits of a number.
    static let numberCapacity = 20

    private init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        self.memory = memory
    }

    /// Whether nothing has been written.
    var isEmpty: Bool { end == 0 }

    @inline(__always)
    mutating func add(literal text: StaticString) {
        text.withUTF8Buffer { for byte in $0 { add(byte) } }
    }

    /// Adds the first bytes of a text.
    /// - Parameter length: The number of bytes; `nil` adds the whole text.
    mutating func add(_ text: String, length: Int? = nil) {
        var text = text
        text.withUTF8 { bytes in
            let rest = UnsafeMutableBufferPointer(rebasing: memory[end...])
            end += rest.initialize(fromContentsOf: bytes.prefix(length ?? bytes.count))
        }
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

    /// Adds a string of a structured field (RFC 9651, section 3.3.3). Characters that such a string can't contain become `_`.
    mutating func add(quoted text: String) {
        add(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                add(UInt8(ascii: "\\"))
                add(byte)
            case 0x20...0x7E: add(byte)
            // For a character outside of ASCII, the first byte becomes `_`, and the method drops the other bytes.
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

extension FieldText {
    /// Returns the text of a policy without a partition key, and the length of the quoted name with which the text begins.
    static func policy(name: String, quota: Int, unit: QuotaUnit, window: Duration) -> (text: String, quotedNameLength: Int) {
        var length = 0
        let names = quotedCapacity(name) + quotedCapacity(unit.rawValue)
        let capacity = names + 2 * numberCapacity + 32
        let text = text(capacity: capacity) { text in
            text.add(quoted: name)
            length = text.end
            text.add(literal: ";q=")
            text.add(number: quota)
            if unit != .requests {
                text.add(literal: ";qu=")
                text.add(quoted: unit.rawValue)
            }
            text.add(literal: ";w=")
            text.add(number: max(1, window.wholeSecondsRoundedUp))
        }
        return (text, length)
    }
}
