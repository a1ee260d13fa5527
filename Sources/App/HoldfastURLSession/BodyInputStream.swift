#if canImport(FoundationNetworking)
    import Foundation

    /// A body that `URLSession` on Linux reads on the queue of its session, which may block: it reads `httpBodyStream` as it sends, in pieces of 64 KiB,
    /// other than `uploadTask(with:fromFile:)`, which needs ten times as long.
    final class BodyInputStream: InputStream {
        private let next: () throws -> [UInt8]?
        /// The bytes that must still be read; `nil` if the length is not known.
        private var missing: Int64?
        private var chunk: ArraySlice<UInt8> = []
        private var status = Stream.Status.notOpen

        /// - Parameters:
        ///   - length: The number of bytes, if it is known.
        ///   - next: Returns the next chunk, or `nil` at the end.
        init(length: Int64?, next: @escaping () throws -> [UInt8]?) {
            (missing, self.next) = (length, next)
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { status }
        override var hasBytesAvailable: Bool { true }
        override func open() { status = .open }
        override func close() { status = .closed }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            do {
                if chunk.isEmpty { chunk = try next()?[...] ?? [] }
            } catch {
                return -1
            }
            let count = min(maxLength, chunk.count)
            if let missing {
                // A file that changed: the server must not take the body for whole.
                guard count > 0 ? Int64(count) <= missing : missing == 0 else { return -1 }
                self.missing = missing - Int64(count)
            }
            chunk.prefix(count).withUnsafeBufferPointer { bytes in
                if let source = bytes.baseAddress { buffer.update(from: source, count: count) }
            }
            chunk = chunk.dropFirst(count)
            return count
        }
    }
#endif
