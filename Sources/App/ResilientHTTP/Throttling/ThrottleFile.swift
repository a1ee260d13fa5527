import Dispatch
public import Foundation
import PrivateFiles

/// Keeps a throttler's counts in a folder, in one small file per user that only its owner may read.
///
/// A file is replaced as a whole, so that a kill at any moment leaves the old or the new one. It isn't forced to the disk: a
/// loss of power may take the last moments with it. One process at a time may use a folder. Files are named by a digest of the
/// user's name.
public final class ThrottleFile: ThrottleStore {
    /// The largest file that is read, in bytes.
    static let maximumSize = 4 * 1024 * 1024

    private let folder: URL
    /// Files are read and written on a thread that may wait for the disk.
    private let queue = DispatchQueue(label: "holdfast.throttle-file")

    /// Creates a store.
    /// - Parameter folder: A folder of the app, such as one in Application Support. It is made, for its owner alone, if there is
    ///   none.
    public init(folder: URL) {
        self.folder = folder
    }

    /// What was saved for a user, or `nil` if nothing was.
    /// - Throws: ``FileFailure`` if the file can't be read, `DecodingError` if it isn't a snapshot.
    public func load(user: String?) async throws -> ThrottleSnapshot? {
        let path = path(of: user)
        return try await onQueue {
            guard let bytes = try PrivateFile.read(path, upTo: Self.maximumSize) else { return nil }
            return try JSONDecoder().decode(ThrottleSnapshot.self, from: Data(bytes))
        }
    }

    /// Keeps a snapshot in place of the earlier one.
    /// - Throws: ``FileFailure`` if the file can't be written.
    public func save(_ snapshot: ThrottleSnapshot, user: String?) async throws {
        let path = path(of: user)
        let folder = folder
        try await onQueue {
            let bytes = Array(try JSONEncoder().encode(snapshot))
            do throws(FileFailure) {
                return try PrivateFile.replace(path, with: bytes)
            } catch {
                guard error.isMissing else { throw error }
            }
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            try PrivateFile.replace(path, with: bytes)
        }
    }

    /// The path of a user's file.
    func path(of user: String?) -> String {
        folder.appending(path: "throttle-\(user.map { String(PrivateFile.digest($0), radix: 16) } ?? "nobody").json").path
    }

    private func onQueue<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
