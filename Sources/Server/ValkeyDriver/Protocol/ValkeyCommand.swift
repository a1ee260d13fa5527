import CHiredis

/// A command with its arguments, which may be any bytes.
///
/// ```swift
/// var command = ValkeyCommand("SET", "greeting")
/// command.append([0, 255])
/// ```
///
/// The client sends each argument with its length. So an argument can't change the command, even if the argument contains line breaks or
/// spaces.
public struct ValkeyCommand: Sendable {
    /// The bytes of all arguments, one after the other.
    private var bytes: [UInt8] = []
    /// The number of bytes of each argument.
    private var lengths: [Int] = []

    /// Creates a command from texts.
    /// - Parameter arguments: The name of the command, then its first arguments.
    public init(_ arguments: String...) {
        for argument in arguments { append(argument) }
    }

    /// Adds a text as an argument.
    public mutating func append(_ argument: String) {
        append(Array(argument.utf8))
    }

    /// Adds bytes as an argument.
    public mutating func append(_ argument: [UInt8]) {
        bytes += argument
        lengths.append(argument.count)
    }

    /// Returns the command in the wire format: an array of bulk strings.
    func encoded() -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            // An empty array has no address, but hiredis requires an address for each argument.
            let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? Self.empty
            var offset = 0
            var arguments: [UnsafePointer<CChar>?] = lengths.map { length in
                defer { offset += length }
                return base + offset
            }
            var target: UnsafeMutablePointer<CChar>?
            let count = redisFormatCommandArgv(&target, Int32(lengths.count), &arguments, lengths)
            precondition(count >= 0, "no memory for a command")
            defer { redisFreeCommand(target) }
            return Array(UnsafeRawBufferPointer(start: target, count: Int(count)))
        }
    }

    /// An address for an empty argument. No thread writes to it after its creation.
    private nonisolated(unsafe) static let empty = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()
}
