#if os(Linux) || os(macOS)
    public import Foundation

    extension FileHandle {
        /// The lines as they arrive, until the end of the file. Then the file is closed.
        public var lines: AsyncStream<String> {
            AsyncStream { continuation in
                Thread { [self] in
                    var pending = Data()
                    while case let data = availableData, !data.isEmpty {
                        pending.append(data)
                        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                            continuation.yield(String(decoding: pending[pending.startIndex..<end], as: UTF8.self))
                            pending = Data(pending[pending.index(after: end)...])
                        }
                    }
                    try? close()
                    continuation.finish()
                }.start()
            }
        }

        /// Reads on another thread until the end of the file, and closes it.
        public func rest() async throws -> String {
            try await onThread { [self] in
                defer { try? close() }
                return String(decoding: readDataToEndOfFile(), as: UTF8.self)
            }
        }
    }
#endif
