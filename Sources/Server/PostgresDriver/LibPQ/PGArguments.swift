/// The values of a statement in the memory layout of libpq: one buffer with all values, and an array of pointers into the buffer. Each
/// value is copied once.
struct PGArguments {
    private var bytes: [UInt8] = []
    /// The offset of each value; `nil` is `NULL`.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []

    /// Encodes values in the binary format.
    init(_ values: [PostgresValue]) {
        for value in values {
            let binary = value.binary
            offsets.append(binary.map { _ in bytes.count })
            lengths.append(Int32(binary?.count ?? 0))
            if let binary { bytes += binary }
        }
        // A null pointer would mean `NULL`. So an empty value needs an address.
        bytes.append(0)
    }

    /// Calls a closure with the number of values, and with their pointers, lengths and formats (each format is 1, binary). The pointers are
    /// valid only within the closure.
    func withPointers<Result>(
        _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { buffer in
            let start = buffer.assumingMemoryBound(to: CChar.self).baseAddress
            let pointers = offsets.map { offset in offset.flatMap { start?.advanced(by: $0) } }
            return body(Int32(offsets.count), pointers, lengths, Array(repeating: 1, count: offsets.count))
        }
    }
}
