import Dispatch
public import Foundation
import HTTPTypes
import PrivateFiles
import Synchronization

/// Stores responses as files in a folder, with a maximum total size. The files outlive the process. Only their owner can read them.
///
/// ```swift
/// api.cache = FileResponseCache(folder: .cachesDirectory.appending(path: "responses"))
/// ```
///
/// If the folder is full, the cache removes the least recently used responses first. The name of a file consists of digests of the session
/// identifier and the address, but the file itself contains both as text. If a file can't be read, the cache treats it as missing. If a
/// file can't be written, the cache ignores the failure. Only one process at a time may use a folder.
///
/// If the responses don't have to survive a restart, use ``MemoryResponseCache``. A lookup reads one file. The first call also lists the
/// folder. The cache reads and writes on a private queue, one operation at a time. It replaces a file atomically, so a crash never leaves a
/// part of a response.
public final class FileResponseCache: ResponseCache {
    /// The sizes of the files and the order of their use. A mutex guards the state, and only the queue changes it.
    private struct State {
        /// The size of each file and the number of its last use, by file name; `nil` before the cache has listed the folder.
        var files: [String: (size: Int, use: UInt64)]?
        var size = 0
        var uses: UInt64 = 0

        /// Records that a file was used, and its size. If the size is `nil`, the file was removed.
        mutating func note(_ name: String, size newSize: Int?) {
            size -= files?[name]?.size ?? 0
            uses += 1
            files?[name] = newSize.map { ($0, uses) }
            size += newSize ?? 0
        }
    }

    /// The content of a file, as a binary property list. The name of the file contains only digests of the key, and two keys can have the
    /// same digests. Therefore, the file also contains the key, and the cache compares this key after it has read the file.
    private struct Record: Codable {
        var key: ResponseCacheKey
        var response: HTTPResponse
        var varying: [String: String]
        var body: Data
    }

    /// The maximum size of all files together, in bytes.
    public let maximumSize: Int
    private let folder: URL
    private let state = Mutex(State())
    /// The queue on which the cache reads and writes files. Reading and writing block, so they must not run on a thread of Swift
    /// concurrency.
    private let queue = DispatchQueue(label: "holdfast.response-cache")

    /// Creates a cache.
    /// - Parameters:
    ///   - folder: A folder that contains nothing else, such as one in the user's caches directory. The cache creates a missing folder with
    ///     access for its owner only.
    ///   - maximumSize: The maximum size of all files together, in bytes. The cache doesn't store a response that is larger than an eighth
    ///     of this size.
    /// - Precondition: `maximumSize` is not negative.
    public init(folder: URL, maximumSize: Int = 32 * 1024 * 1024) {
        precondition(maximumSize >= 0, "maximumSize must not be negative (is \(maximumSize))")
        self.folder = folder
        self.maximumSize = maximumSize
    }

    /// Returns a stored response, and marks it as used; `nil` if no response is stored.
    /// - Parameter key: The session and the address of the request.
    public func response(for key: ResponseCacheKey) async -> StoredResponse? {
        await queue.run { [self] in
            let name = Self.name(of: key)
            guard let bytes = try? PrivateFile.read(path(of: name), upTo: maximumSize),
                let record = try? PropertyListDecoder().decode(Record.self, from: Data(bytes)), record.key == key
            else { return nil }
            list()
            state.withLock { $0.note(name, size: bytes.count) }
            return StoredResponse(response: record.response, body: [UInt8](record.body), varying: record.varying)
        }
    }

    /// Stores a response and replaces the earlier response of the same key. If the response is larger than an eighth of the maximum size,
    /// the cache doesn't store it, but still removes the earlier response. If the files then exceed the maximum size, the cache removes the
    /// least recently used responses until a quarter of the size is free.
    /// - Parameters:
    ///   - response: The response with its complete body.
    ///   - key: The session and the address of the request.
    public func store(_ response: StoredResponse, for key: ResponseCacheKey) async {
        await queue.run { [self] in
            let name = Self.name(of: key)
            list()
            let (head, body) = (response.response, Data(response.body))
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            guard let data = try? encoder.encode(Record(key: key, response: head, varying: response.varying, body: body)),
                data.count <= maximumSize / 8,
                (try? PrivateFile.replace(path(of: name), in: folder, with: Array(data))) != nil
            else { return delete(name) }
            state.withLock { $0.note(name, size: data.count) }
            dropOldest()
        }
    }

    /// Removes the response of a key, if it is stored.
    /// - Parameter key: The session and the address of the request.
    public func remove(_ key: ResponseCacheKey) async {
        await queue.run { [self] in
            list()
            delete(Self.name(of: key))
        }
    }

    /// Removes all responses of a session. O(number of files).
    /// - Parameter owner: The identifier of the session, as in ``ResponseCacheKey/owner``.
    public func removeAll(of owner: String) async {
        await queue.run { [self] in
            list()
            let prefix = Self.prefix(of: owner)
            for name in state.withLock({ $0.files?.keys.filter { $0.hasPrefix(prefix) } ?? [] }) { delete(name) }
        }
    }

    /// Removes all responses of all sessions, and the responses to calls without a session.
    public func removeAll() async {
        await queue.run { [self] in
            list()
            for name in state.withLock({ $0.files?.keys.map(\.self) ?? [] }) { delete(name) }
        }
    }
}

/// Functions that the cache calls only on its queue.
extension FileResponseCache {
    /// Finds the files that earlier processes left in the folder. Only the first call reads the folder. The oldest file counts as the least
    /// recently used one.
    private func list() {
        guard state.withLock({ $0.files == nil }) else { return }
        let properties: Set<URLResourceKey> = [.fileSizeKey, .contentModificationDateKey]
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(properties))
        // If a process is killed while it writes a response, a temporary file remains.
        for draft in files ?? [] where draft.pathExtension == "new" { try? FileManager.default.removeItem(at: draft) }
        let known = (files ?? []).filter { $0.pathExtension == Self.pathExtension }.map { file in
            let values = try? file.resourceValues(forKeys: properties)
            return (file.lastPathComponent, values?.fileSize ?? 0, values?.contentModificationDate ?? .distantPast)
        }
        state.withLock { state in
            state.files = [:]
            for (name, size, _) in known.sorted(by: { $0.2 < $1.2 }) { state.note(name, size: size) }
        }
    }

    /// Removes a file, if it exists.
    private func delete(_ name: String) {
        try? FileManager.default.removeItem(atPath: path(of: name))
        state.withLock { $0.note(name, size: nil) }
    }

    /// Deletes the least recently used files if all files together exceed the maximum size. The method deletes files until a quarter of the
    /// maximum size is free.
    private func dropOldest() {
        let names = state.withLock { state -> [String] in
            guard state.size > maximumSize else { return [] }
            return (state.files ?? [:]).sorted { $0.value.use < $1.value.use }.map(\.key)
        }
        for name in names where state.withLock({ $0.size > maximumSize / 4 * 3 }) { delete(name) }
    }

    private static let pathExtension = "response"

    private func path(of name: String) -> String { folder.appending(path: name).path }

    /// Returns the name of a file. The first part is the digest of the session, or `public`. The second part is the digest of the address.
    private static func name(of key: ResponseCacheKey) -> String {
        "\(prefix(of: key.owner))\(digest(key.url)).\(pathExtension)"
    }

    /// Returns the first part of the names of all files of a session. The cache finds the files of a session by this part, without reading
    /// them.
    private static func prefix(of owner: String?) -> String { owner.map { digest($0) + "-" } ?? "public-" }

    private static func digest(_ text: String) -> String { String(PrivateFile.digest(text), radix: 16) }
}
