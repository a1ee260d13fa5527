import Dispatch
import Foundation
import PrivateFiles
import Synchronization

/// The file of a download that is not complete, beside its target, and the validator of the version that it belongs to. One task uses it.
///
/// It reads and writes on a separate queue: that blocks its thread.
final class PartialFile: Sendable {
    /// The facts that a later process needs to continue.
    private struct Origin: Codable, Hashable {
        var source: String
        var validator: String
    }

    private struct State {
        var length: Int64 = 0
        var validator: String?
        var hasBegun = false
        var handle: FileHandle?
    }

    /// The largest description of an origin, in bytes.
    private static let longestOrigin = 65_536
    private let queue = DispatchQueue(label: "holdfast.download", autoreleaseFrequency: .workItem)
    private let state = Mutex(State())
    private let (target, partial, origin): (URL, URL, URL)
    private let source: String

    /// Opens the partial file of a target, if there is one of the same source that can be continued.
    init(_ target: URL, source: String) async throws {
        self.target = target
        self.source = source
        partial = target.appendingPathExtension("partial")
        origin = target.appendingPathExtension("partial.origin")
        try await perform { file, state in try file.open(&state) }
    }

    deinit {
        state.withLock { try? $0.handle?.close() }
    }

    /// The number of bytes in the file.
    var length: Int64 { state.withLock(\.length) }
    /// The validator of the version of the bytes in the file; `nil` if they can't be continued.
    var validator: String? { state.withLock(\.validator) }
    /// Whether the validator is an `ETag`.
    var isTagged: Bool { validator?.hasPrefix("\"") == true }
    /// Whether the present attempt has had the head of a success.
    var hasBegun: Bool {
        get { state.withLock(\.hasBegun) }
        set { state.withLock { $0.hasBegun = newValue } }
    }

    /// Empties the file, for another version.
    func startAnew(validator: String?) async throws {
        try await perform { file, state in
            // The origin is never that of bytes of another version.
            try? FileManager.default.removeItem(at: file.origin)
            state.validator = nil
            let handle = try file.handle(&state)
            try handle.truncate(atOffset: 0)
            state.length = 0
            guard let validator else { return }
            let origin = try JSONEncoder().encode(Origin(source: file.source, validator: validator))
            try PrivateFile.replace(file.origin.path(percentEncoded: false), with: [UInt8](origin))
            state.validator = validator
        }
    }

    func append(_ chunk: [UInt8]) async throws {
        try await perform { file, state in
            try file.handle(&state).write(contentsOf: chunk)
            state.length += Int64(chunk.count)
        }
    }

    /// Puts the file in the place of the target, at once and whole.
    func finish() async throws {
        try await perform { file, state in
            let handle = try file.handle(&state)
            try handle.synchronize()
            try handle.close()
            state.handle = nil
            let failure = rename(file.partial.path(percentEncoded: false), file.target.path(percentEncoded: false))
            guard failure == 0 else { throw CocoaError(.fileWriteUnknown) }
            try? FileManager.default.removeItem(at: file.origin)
        }
    }

    private func open(_ state: inout State) throws {
        guard let bytes = try? PrivateFile.read(origin.path(percentEncoded: false), upTo: Self.longestOrigin),
            let known = try? JSONDecoder().decode(Origin.self, from: Data(bytes)), known.source == source,
            let length = FileChunks.length(of: partial), length > 0
        else { return }
        let handle = try FileHandle(forUpdating: partial)
        try handle.seekToEnd()
        (state.handle, state.length, state.validator) = (handle, length, known.validator)
    }

    private func handle(_ state: inout State) throws -> FileHandle {
        if let handle = state.handle { return handle }
        let path = partial.path(percentEncoded: false)
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        let handle = try FileHandle(forUpdating: partial)
        state.handle = handle
        return handle
    }

    private func perform(_ body: @escaping @Sendable (PartialFile, inout State) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            queue.async { [self] in
                done.resume(with: Result { try state.withLock { try body(self, &$0) } })
            }
        }
    }
}
