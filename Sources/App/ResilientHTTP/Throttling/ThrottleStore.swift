import Dispatch
public import Foundation
import HTTPTypes
import PrivateFiles
import RateLimiting

/// Stores the counts of a throttler, so that they survive a restart of the app.
///
/// A throttler loads the ``ThrottleSnapshot`` of a user once, before that user's first call. Before each call is sent, the throttler saves
/// a new snapshot, which replaces the earlier one. Only one save runs at a time, and concurrent calls share a save.
public protocol ThrottleStore: Sendable {
    /// Returns the saved snapshot of a user; `nil` if no snapshot is saved.
    ///
    /// - Parameter user: The user; `nil` for calls without a user.
    /// - Throws: Any error if a snapshot exists and can't be read. The throttler then treats one quota of each endpoint of the user as used
    ///   up: the quota with the shortest window.
    func load(user: String?) async throws -> ThrottleSnapshot?
    /// Saves a snapshot and replaces the earlier one.
    ///
    /// - Parameters:
    ///   - snapshot: The counted calls of the user, for all endpoints. The snapshot is `Codable`, so a store can save it as JSON or as a
    ///     property list.
    ///   - user: The user; `nil` for calls without a user.
    /// - Throws: Any error if the snapshot can't be saved. The throttler then logs the error and continues.
    func save(_ snapshot: ThrottleSnapshot, user: String?) async throws
}

/// A copy of one user's counts that a store can save. For each endpoint, it contains the counted calls and the limits that the throttler
/// learned from responses. It contains the templates of routes, but neither the user nor ids.
public struct ThrottleSnapshot: Hashable, Sendable, Codable {
    /// The state of one endpoint.
    struct Entry: Hashable, Sendable, Codable {
        var method: String
        var route: String
        var limit: AdaptiveSnapshot

        /// The endpoint; `nil` if the saved values are invalid.
        var endpoint: Endpoint? {
            guard let method = HTTPRequest.Method(rawValue: method), let route = RouteTemplate(parsing: route) else { return nil }
            return Endpoint(method, route)
        }
    }

    /// The version of the format. A throttler can read only version 1.
    var version = 1
    var entries: [Entry]
}

extension ThrottleTable {
    /// Returns a snapshot of the limits of all endpoints that a user called. O(endpoints).
    func snapshot(of user: String?, at now: Int64, time: SnapshotTime) -> ThrottleSnapshot {
        let entries = keys.filter { $0.user == user && $0 != Self.overflow }.compactMap { key -> ThrottleSnapshot.Entry? in
            guard let limit = slot(of: key).limit.snapshot(at: now, time: time) else { return nil }
            return .init(method: key.endpoint.method.rawValue, route: "\(key.endpoint.route)", limit: limit)
        }
        return ThrottleSnapshot(entries: entries.sorted { ($0.route, $0.method) < ($1.route, $1.method) })
    }
}

/// Stores a throttler's counts in a folder. Each user has one small file, which only its owner can read.
///
/// The store replaces a file atomically: if the process is killed, either the old or the new file remains. The store doesn't flush the file
/// to the disk, so a power failure can lose the latest changes. Only one process at a time may use a folder. The name of a file is a digest
/// of the user's name.
///
/// ```swift
/// let throttler = Throttler(policy: policy, store: ThrottleFile(folder: folder))
/// ```
public final class ThrottleFile: ThrottleStore {
    /// The maximum size of a file that the store reads, in bytes.
    static let maximumSize = 4 * 1024 * 1024

    private let folder: URL
    /// The queue on which the store reads and writes files, because reading and writing block the thread.
    private let queue = DispatchQueue(label: "holdfast.throttle-file")

    /// Creates a store.
    /// - Parameter folder: A folder of the app, such as one in Application Support. The store creates a missing folder with access for its
    ///   owner only.
    public init(folder: URL) {
        self.folder = folder
    }

    /// Returns the saved snapshot of a user; `nil` if no snapshot is saved.
    /// - Parameter user: The user; `nil` for calls without a user. The name of the file is derived from the user.
    /// - Throws: `POSIXError` if the file can't be read, with `EIO` if the file is too large. `DecodingError` if the file isn't a snapshot.
    public func load(user: String?) async throws -> ThrottleSnapshot? {
        let path = path(of: user)
        return try await queue.runFileWork {
            guard let bytes = try PrivateFile.read(path, upTo: Self.maximumSize) else { return nil }
            return try JSONDecoder().decode(ThrottleSnapshot.self, from: Data(bytes))
        }
    }

    /// Saves a snapshot and replaces the earlier one.
    /// - Parameters:
    ///   - snapshot: The counted calls of the user.
    ///   - user: The user; `nil` for calls without a user.
    /// - Throws: `POSIXError` if the file can't be written.
    public func save(_ snapshot: ThrottleSnapshot, user: String?) async throws {
        let path = path(of: user)
        try await queue.runFileWork { [folder] in
            try PrivateFile.replace(path, in: folder, with: Array(try JSONEncoder().encode(snapshot)))
        }
    }

    /// Returns the path of a user's file.
    func path(of user: String?) -> String {
        folder.appending(path: "throttle-\(user.map { String(PrivateFile.digest($0), radix: 16) } ?? "nobody").json").path
    }
}
