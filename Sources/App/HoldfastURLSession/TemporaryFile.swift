#if canImport(FoundationNetworking)
    import Foundation
    import ResilientHTTP
    import Synchronization

    /// An unnamed temporary file that returns bytes in the order in which they were written.
    ///
    /// On Linux, all sessions of a process share one serial queue. Blocking this queue would stop every call, so `URLSession` can't pause
    /// the sending or the receiving of a single call. If the server or the reader doesn't accept bytes yet, this file stores the bytes on
    /// disk instead of in memory.
    ///
    /// Only the owner can read the file. The file has no name while the process uses it, so no file remains after a crash. When all bytes
    /// have been read, the next write empties the file and begins at its start. Therefore, the file stays small if the reader is as fast as
    /// the writer.
    final class TemporaryFile: Sendable {
        /// The file and its two positions, guarded by a mutex. The next write begins at `written`, and the next read begins at `read`.
        /// `read` never exceeds `written`.
        private struct State {
            let handle: FileHandle
            var written: UInt64 = 0
            var read: UInt64 = 0
            var lastWrite = ContinuousClock.now
        }

        private let state: Mutex<State>
        /// Runs the blocking reads and writes of tasks, which must not block the cooperative thread pool.
        private let queue = DispatchQueue(label: "holdfast.temporary-file", autoreleaseFrequency: .workItem)

        /// Creates a file in the temporary folder. When the file is closed, the system removes it.
        /// - Throws: The error of the file system.
        init() throws {
            let url = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
            let path = url.path(percentEncoded: false)
            guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw CocoaError(.fileWriteNoPermission)
            }
            defer { try? FileManager.default.removeItem(at: url) }
            state = Mutex(State(handle: try FileHandle(forUpdating: url)))
        }

        deinit {
            state.withLock { try? $0.handle.close() }
        }

        /// Appends bytes. Blocks the thread.
        /// - Throws: The error of the file system, for example if the disk is full.
        func append(_ bytes: [UInt8]) throws {
            try state.withLock { state in
                if state.read > 0, state.read == state.written {
                    (state.read, state.written) = (0, 0)
                    try state.handle.truncate(atOffset: 0)
                }
                try state.handle.seek(toOffset: state.written)
                try state.handle.write(contentsOf: bytes)
                state.written += UInt64(bytes.count)
                state.lastWrite = .now
            }
        }

        /// Returns the next bytes, at most `RequestBody.chunkSize`, or `nil` if all bytes have been read. Blocks the thread.
        /// - Throws: The error of the file system.
        func read() throws -> [UInt8]? {
            try state.withLock { state in
                guard state.read < state.written else { return nil }
                try state.handle.seek(toOffset: state.read)
                let data = try state.handle.read(upToCount: RequestBody.chunkSize) ?? Data()
                guard !data.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
                state.read += UInt64(data.count)
                return [UInt8](data)
            }
        }

        /// Runs a closure with the file on the queue of this object.
        /// - Throws: The error of the closure.
        func perform<Value: Sendable>(_ body: @escaping @Sendable (TemporaryFile) throws -> Value) async throws -> Value {
            try await queue.run { [self] in try body(self) }
        }

        /// Writes the whole body of a request to the file, before the session sends any part of it.
        ///
        /// - Parameters:
        ///   - body: The body.
        ///   - deadline: The deadline for the complete body.
        ///   - idleTimeout: The maximum time without a byte; `nil` sets no limit.
        /// - Throws: ``TransportError`` whose `wasSent` is `false`.
        func write(_ body: RequestBody, deadline: ContinuousClock.Instant, idleTimeout: Duration?) async throws(TransportError) {
            do {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    group.addTask {
                        try await body.write { [self] chunk in try await perform { try $0.append(chunk) } }
                        return true
                    }
                    group.addTask { [self] in
                        while true {
                            let expiry = min(deadline, idleTimeout.map { state.withLock(\.lastWrite) + $0 } ?? deadline)
                            guard ContinuousClock.now < expiry else { return false }
                            // The deadlines of a transport are in real time, like those of the session. The clock traps for an instant
                            // that is too far in the future, so each sleep takes at most a day.
                            let next = min(expiry, ContinuousClock.now + .seconds(86_400))
                            try await Task.sleep(until: next, clock: .continuous)
                        }
                    }
                    defer { group.cancelAll() }
                    guard try await group.next() == true else {
                        throw TransportError(
                            .timeout,
                            message: "the body of the request was not produced in time",
                            wasSent: false
                        )
                    }
                }
            } catch {
                var failure = TransportError(urlSession: error)
                failure.wasSent = false
                throw failure
            }
        }
    }
#endif
