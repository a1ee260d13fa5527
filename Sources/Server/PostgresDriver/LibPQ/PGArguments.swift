/// Values in the layout that libpq takes.
struct PGArguments {
    private var bytes: [UInt8] = []
    /// Where each value begins; `nil` is `NULL`.
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []

    init(_ values: [PostgresValue]) {
        for value in values {
            let binary = value.binary
            offsets.append(binary.map { _ in bytes.count })
            lengths.append(Int32(binary?.count ?? 0))
            if let binary { bytes += binary }
        }
        // An empty value is no null pointer.
        bytes.append(0)
    }

    /// Calls a closure with the number of values, their pointers, lengths and formats.
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
