package import Dispatch
import Foundation
import PrivateFiles

/// Work that blocks its thread, such as reading and writing files. It must not run on a thread of the cooperative pool.
extension DispatchQueue {
    /// Runs a closure on the queue, and returns its result. If the task is canceled, a closure that has begun continues to its end.
    /// - Throws: The error of the closure.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
            self.async { continuation.resume(returning: Result(catching: body)) }
        }.get()
    }

    /// Runs a closure that uses `PrivateFile` on the queue, and returns its result.
    /// - Throws: `POSIXError` if a file can't be read or written. Otherwise, the error of the closure.
    func runFileWork<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await run { () throws -> Value in
            do {
                return try body()
            } catch let failure as FileFailure {
                throw POSIXError(failure)
            }
        }
    }
}

extension POSIXError {
    /// Creates the error for a file operation that failed. A file that is too large gets the code `EIO`.
    init(_ failure: FileFailure) {
        self.init(POSIXErrorCode(rawValue: failure.code) ?? .EIO)
    }
}

extension PrivateFile {
    /// Replaces a file like `replace(_:with:)`, and creates its folder with access for its owner only if the folder is missing.
    static func replace(_ path: String, in folder: URL, with bytes: [UInt8]) throws {
        do throws(FileFailure) {
            return try replace(path, with: bytes)
        } catch {
            guard error.isMissing else { throw error }
        }
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try replace(path, with: bytes)
    }
}
