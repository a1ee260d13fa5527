import Dispatch
public import Foundation
import HTTPTypes
import PrivateFiles
import RateLimiting

/// Where a throttler's counts survive a restart.
///
/// What was saved last is what counts. A throttler loads a user once, before that user's first call, and saves before each call
/// goes out; it saves one after the other, and shares one save among calls that come together.
public protocol ThrottleStore: Sendable {
    /// What was saved for a user, or `nil` if nothing was.
    /// - Throws: Any error if something was saved and can't be read; the throttler then takes the shortest quota of each of the
    ///   user's endpoints for used up.
    func load(user: String?) async throws -> ThrottleSnapshot?
    /// Keeps a snapshot in place of the earlier one.
    /// - Throws: Any error if it can't be kept; the throttler then logs it and goes on.
    func save(_ snapshot: ThrottleSnapshot, user: String?) async throws
}

/// The consumed quotas of one user and the limits that were learned, in a form that can be saved. It holds templates of routes, and
/// neither the user nor an id.
public struct ThrottleSnapshot: Hashable, Sendable, Codable {
    /// The state of one endpoint.
    struct Entry: Hashable, Sendable, Codable {
        var method: String
        var route: String
        var limit: AdaptiveSnapshot

        /// The endpoint; `nil` if it can't be one.
        var endpoint: Endpoint? {
            guard let method = HTTPRequest.Method(rawValue: method), let route = RouteTemplate(parsing: route) else { return nil }
            return Endpoint(method, route)
        }
    }

    /// The form of the snapshot; a later one may not be read by this version.
    var version = 1
    var entries: [Entry]
}

extension ThrottleTable {
    /// The snapshot of a user's endpoints. O(endpoints).
    func snapshot(of user: String?, at now: Int64, time: SnapshotTime) -> ThrottleSnapshot {
        let entries = keys.filter { $0.user == user && $0 != Self.overflow }.compactMap { key -> ThrottleSnapshot.Entry? in
            guard let limit = slot(of: key).limit.snapshot(at: now, time: time) else { return nil }
            return .init(method: key.endpoint.method.rawValue, route: "\(key.endpoint.route)", limit: limit)
        }
        return ThrottleSnapshot(entries: entries.sorted { ($0.route, $0.method) < ($1.route, $1.method) })
    }
}

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

    /// Returns the saved snapshot of a user, or `nil` if there is none.
    /// - Throws: `POSIXError` if the file can't be read, with `EIO` if it is too large; `DecodingError` if it isn't a snapshot.
    public func load(user: String?) async throws -> ThrottleSnapshot? {
        let path = path(of: user)
        return try await onQueue {
            guard let bytes = try PrivateFile.read(path, upTo: Self.maximumSize) else { return nil }
            return try JSONDecoder().decode(ThrottleSnapshot.self, from: Data(bytes))
        }
    }

    /// Keeps a snapshot in place of the earlier one.
    /// - Throws: `POSIXError` if the file can't be written.
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
            queue.async {
                continuation.resume(
                    with: Swift.Result { try body() }.mapError { ($0 as? FileFailure).map(POSIXError.init) ?? $0 }
                )
            }
        }
    }
}
