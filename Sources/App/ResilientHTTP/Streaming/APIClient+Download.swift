import Dispatch
public import ErrorContract
public import Foundation
public import HTTPTypes
import PrivateFiles
import Synchronization
import Timekeeping

extension APIClient {
    /// Downloads a response into a file, and resumes an interrupted download.
    ///
    /// The method writes the bytes to a partial file beside the target (`NAME.partial`). When the partial file is complete, it replaces the
    /// target. After a lost connection, the method resumes the download automatically. A retry policy limits the number of consecutive
    /// retries that receive no new byte: the policy of the options, otherwise of the endpoint, otherwise of the client's
    /// ``RetryMiddleware``. A client without these policies uses the default ``RetryPolicy``.
    ///
    /// To continue after an error or a restart of the process, call the method again with the same path and target. If the server sent a
    /// strong `ETag` or a `Last-Modified` (RFC 9110 §13.1.5), the download continues at the end of the partial file. If the resource has
    /// changed since, the download starts again. It also starts again if another session has begun since, because the resource may depend
    /// on the user, or if a header of the request has changed that the response names in `Vary`. If the session ends or another one begins
    /// during the download, the download fails with the kind `unauthorized`.
    ///
    /// If `headers` contain a condition such as `If-None-Match`, the server can respond with 304. The method then returns this response,
    /// and changes neither the target nor the partial file.
    ///
    /// ```swift
    /// try await api.download("/films/7", to: url) { print($0.completed, $0.total ?? 0) }
    /// ```
    /// - Parameters:
    ///   - path: The path, optionally with a query. It is percent-encoded and has no fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - target: The file. Its folder must exist. Concurrent downloads must not have the same target.
    ///   - headers: Further headers. If they contain no `Accept`, the client accepts any content.
    ///   - options: The settings of this call, such as a timeout.
    ///   - idleTimeout: The maximum time in which no byte is received.
    ///   - context: A name for the operation. Errors of the call contain this name.
    ///   - progress: Receives the progress after each written chunk. If the download starts again, the progress starts again at 0.
    /// - Returns: The head of the last response.
    /// - Throws: `APIError` of the last attempt. If the file system failed, the `underlying` error is the error of the file system. The
    ///   partial file remains.
    @discardableResult
    public func download(
        _ path: String,
        query: [URLQueryItem] = [],
        to target: URL,
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        idleTimeout: Duration = .seconds(60),
        context: String? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws(APIError) -> HTTPResponse {
        let path = query.isEmpty ? path : path.appending(query)
        let policy = retryPolicy(for: path, options: options)
        let owner = try await sessionID(of: path, options: options, context: context)
        let headers = headers.accepting("*/*")
        let fields = try makeRequest(Outgoing(.get, path, [], headers, options, context)).headerFields
        let file: PartialFile
        do {
            file = try await PartialFile(target, source: baseURL.absoluteString + path, fields: fields, owner: owner)
        } catch {
            throw localized(APIError(error, context: context))
        }
        let download = Download(
            api: self,
            path: path,
            headers: headers,
            options: options,
            transfer: Exchange.Transfer(idleTimeout: idleTimeout, returnsStream: true),
            context: context
        )
        var failures = 0
        while true {
            let begin = file.length
            do throws(APIError) {
                return try await download.run(into: file, progress: progress)
            } catch {
                // The attempt made progress if it received new bytes, and the download can be resumed after them.
                failures = file.length > begin && file.validator != nil ? 0 : failures
                guard [.network, .timeout, .noInternet].contains(error.kind), error.retry != .never, file.hasBegun,
                    failures < policy.maximumRetries
                else { throw error }
                let pause = policy.backoff.pause(beforeRetry: failures, chance: environment.chance())
                failures += 1
                do {
                    try await environment.clock.sleep(until: environment.clock.now + pause)
                } catch {
                    throw localized(APIError(error, context: context))
                }
            }
        }
    }

    /// Returns the identifier of the session whose token a GET request carries now; `nil` for none. Requests that belong together are bound
    /// to this session, so that no request carries the token of another user.
    func sessionID(of path: String, options: CallOptions, context: String?) async throws(APIError) -> String? {
        guard try policy(.get, path, options: options, context: context).isAuthorized, let session else { return nil }
        do {
            return try await session.held()?.sessionID
        } catch {
            throw localized(APIError(error, context: context))
        }
    }

    /// Returns the retry policy of the options, otherwise the policy of the download's endpoint, otherwise the policy of the client's
    /// ``RetryMiddleware``, otherwise the default policy.
    private func retryPolicy(for path: String, options: CallOptions) -> RetryPolicy {
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: baseURL.path(percentEncoded: true) + path)
        if let policy = options.retry ?? policies[routes.endpoint(of: request)].retry { return policy }
        let layers = middleware.compactMap { $0 as? RetryMiddleware }
        return layers.first?.policy ?? RetryPolicy()
    }
}

/// One download with all of its attempts. The attempts run one after another and share the partial file.
private struct Download: Sendable {
    let api: APIClient
    let path: String
    let headers: HTTPFields
    let options: CallOptions
    let transfer: Exchange.Transfer
    let context: String?

    /// Sends one request and writes its body.
    ///
    /// A validator, such as an `ETag`, identifies a version of the resource. A 206 continues the partial file if its range begins at the
    /// end of the file and the validator is unchanged. A 304 contains no resource, so the files stay unchanged. Any other success contains
    /// the whole resource, so the file starts again.
    /// - Returns: The head of the response.
    /// - Throws: `APIError` of the attempt. The received bytes remain in the file.
    func run(
        into file: PartialFile,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(APIError) -> HTTPResponse {
        file.hasBegun = false
        var headers = headers
        // The client determines the range itself.
        (headers[.range], headers[.ifRange]) = (nil, nil)
        // A range of a compressed body doesn't correspond to a range of the file.
        headers[.acceptEncoding] = "identity"
        if file.length > 0, let validator = file.validator {
            headers[.range] = "bytes=\(file.length)-"
            headers[.ifRange] = validator
        }
        let stream: ResponseStream
        do throws(APIError) {
            // All attempts are bound to the session of the download, so that no attempt carries the token of another user.
            stream = try await api.stream(
                .init(.get, path, [], headers, options, context, transfer: transfer, session: file.owner)
            )
        } catch {
            guard error.status == 416, headers.contains(.range) else { throw error }
            return try await outOfRange(file, error, progress)
        }
        // The response to a condition of the caller, who already has this version of the resource.
        guard stream.response.status != .notModified else { return stream.response }
        let total: Int64?
        if stream.response.status == .partialContent, headers.contains(.range) {
            guard let range = ContentRange(stream.response), range.first == file.length, stream.session == file.owner,
                stream.response.headerFields[file.isTagged ? .eTag : .lastModified].map({ $0 == file.validator }) ?? true
            else {
                // The server sent another range, or a range of another version. Or the bytes of the file were received without a session,
                // and a session has begun since, for example at the prompt of the session.
                try await local { try await file.startAnew(validator: nil, owner: stream.session) }
                return try await run(into: file, progress: progress)
            }
            total =
                range.total
                ?? stream.length.flatMap { length in
                    let (sum, isOverflow) = length.addingReportingOverflow(file.length)
                    return isOverflow ? nil : sum
                }
        } else {
            guard stream.response.status != .partialContent else { throw api.localized(APIError(.decoding, context: context)) }
            let validator = stream.response.strongValidator(now: api.environment.wallClock())
            let names = stream.response.headerFields.varyingNames
            try await local { try await file.startAnew(validator: validator, varyingBy: names, owner: stream.session) }
            total = stream.length
        }
        file.hasBegun = true
        progress?(TransferProgress(completed: file.length, total: total))
        var chunks = stream.makeAsyncIterator()
        while let chunk = try await chunks.next() {
            try await local { try await file.append(chunk) }
            progress?(TransferProgress(completed: file.length, total: total))
        }
        guard total == nil || total == file.length else { throw stream.failure(Self.broken) }
        try await local { try await file.finish() }
        return stream.response
    }

    /// The error of a body whose length differs from the announced length.
    private static let broken = TransportError(
        .connectionLost,
        message: "the body has another length than announced",
        wasSent: true
    )

    /// Handles a 416: the requested range begins after the end of the resource. Either the partial file is complete, or the file contains
    /// bytes of another version.
    private func outOfRange(
        _ file: PartialFile,
        _ error: APIError,
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(APIError) -> HTTPResponse {
        let response = HTTPResponse(status: .rangeNotSatisfiable, headerFields: error.headers)
        if ContentRange(response)?.total == file.length {
            progress?(TransferProgress(completed: file.length, total: file.length))
            try await local { try await file.finish() }
            return response
        }
        try await local { try await file.startAnew(validator: nil, owner: file.owner) }
        return try await run(into: file, progress: progress)
    }

    /// Runs a closure that uses the file system, and converts its errors to `APIError`.
    private func local(_ body: () async throws -> Void) async throws(APIError) {
        do { try await body() } catch { throw api.localized(APIError(error, context: context)) }
    }
}

/// The value of the header `Content-Range`, such as `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10` (RFC 9110 §14.4).
struct ContentRange: Hashable {
    /// The position of the first byte; `nil` if the range was not satisfiable.
    var first: Int64?
    /// The length of the whole resource; `nil` if the server doesn't report it.
    var total: Int64?

    /// Parses the `Content-Range` of a response; `nil` if this header is missing or invalid.
    init?(_ response: HTTPResponse) {
        guard let text = response.headerFields[.contentRange], text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        total = parts[1] == "*" ? nil : Int64(parts[1])
        if parts[0] == "*" { return }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
        guard ends.count == 2, let start = ends[0], let end = ends[1], start >= 0, end >= start else { return nil }
        guard total.map({ end < $0 }) ?? (parts[1] == "*") else { return nil }
        first = start
    }
}

extension HTTPResponse {
    /// Returns the strong validator of the response, for the header `If-Range` (RFC 9110 §8.8); `nil` if there is none. A strong validator
    /// identifies one version of the resource: it is a strong `ETag`, or a `Last-Modified` that is at least one second earlier than `Date`.
    /// A compressed body has no validator, because a range of the body doesn't correspond to a range of the file.
    func strongValidator(now: Date) -> String? {
        guard headerFields[.contentEncoding].map({ $0 == "identity" }) ?? true else { return nil }
        if let tag = headerFields[.eTag] { return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 1 ? tag : nil }
        guard let text = headerFields[.lastModified], let modified = HTTPDate.parse(text, now: now),
            let date = headerFields[.date].flatMap({ HTTPDate.parse($0, now: now) }), date.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }
}

/// The partial file of a download, in the folder of its target. Only one task uses it.
///
/// A download uses three files: the target, `NAME.partial` with the received bytes, and `NAME.partial.origin`. The origin file contains the
/// address of the resource, the session of the download, the request headers that the response varies by, and the validator (such as the
/// `ETag`) of the downloaded version. Before the download writes bytes of another version, it removes the origin file, empties the partial
/// file, and stores the new origin file. Therefore, even if the process ends at any moment, the partial file matches its origin file, or
/// has no origin file. The next download ignores a partial file without an origin file.
///
/// The type reads and writes files on a separate queue, because reading and writing block the thread.
final class PartialFile: Sendable {
    /// The data that a later process needs to resume.
    private struct Origin: Codable, Hashable {
        var source: String
        /// The identifier of the session, which contains no token; `nil` for a download without a session.
        var owner: String?
        var validator: String
        /// The hashes of the request headers that the response names in `Vary`, by lowercase name; `nil` in files of earlier versions. A
        /// header can contain a secret, such as the key of an API, so the file does not contain its value.
        var varying: [String: String]?
    }

    /// The open file with its length, session and validator. The next write through the handle appends to the file.
    private struct State {
        var length: Int64 = 0
        var owner: String?
        var validator: String?
        var hasBegun = false
        var handle: FileHandle?
    }

    /// The maximum size of the file with the origin, in bytes.
    private static let longestOrigin = 65_536
    private let queue = DispatchQueue(label: "holdfast.download", autoreleaseFrequency: .workItem)
    private let state: Mutex<State>
    private let (target, partial, origin): (URL, URL, URL)
    private let source: String
    /// The headers of the download's request.
    private let fields: HTTPFields

    /// Opens the partial file of an earlier download of the same address, session and target, if the earlier download can be resumed.
    /// Otherwise, the new download begins with an empty file.
    init(_ target: URL, source: String, fields: HTTPFields, owner: String?) async throws {
        (self.target, self.source, self.fields) = (target, source, fields)
        state = Mutex(State(owner: owner))
        partial = target.appendingPathExtension("partial")
        origin = target.appendingPathExtension("partial.origin")
        try await perform { file, state in try file.open(&state) }
    }

    deinit {
        state.withLock { try? $0.handle?.close() }
    }

    /// The number of bytes in the file.
    var length: Int64 { state.withLock(\.length) }
    /// The identifier of the session to which the bytes belong; `nil` if they were received without a session.
    var owner: String? { state.withLock(\.owner) }
    /// The validator of the version to which the bytes belong; `nil` if the download can't be resumed.
    var validator: String? { state.withLock(\.validator) }
    /// Whether the validator is an `ETag`.
    var isTagged: Bool { validator?.hasPrefix("\"") == true }
    /// Whether the current attempt has received the head of a success.
    var hasBegun: Bool {
        get { state.withLock(\.hasBegun) }
        set { state.withLock { $0.hasBegun = newValue } }
    }

    /// Empties the file, so that the download of another version or of another session can begin.
    /// - Parameters:
    ///   - validator: The strong validator of the new version; `nil` if the new download can't be resumed.
    ///   - names: The names in the `Vary` of the response; `nil` for `*`. In this case, the new download can't be resumed.
    ///   - owner: The identifier of the session; `nil` for a download without a session.
    func startAnew(validator: String?, varyingBy names: [String]? = [], owner: String?) async throws {
        try await perform { file, state in
            // The origin file must never exist beside bytes of another version.
            try? FileManager.default.removeItem(at: file.origin)
            state.validator = nil
            let handle = try file.handle(&state)
            try handle.truncate(atOffset: 0)
            (state.length, state.owner) = (0, owner)
            guard let validator, let names else { return }
            let varying = Dictionary(names.map { ($0, file.digest(of: $0)) }) { first, _ in first }
            let known = Origin(source: file.source, owner: owner, validator: validator, varying: varying)
            let origin = try JSONEncoder().encode(known)
            try PrivateFile.replace(file.origin.path(percentEncoded: false), with: [UInt8](origin))
            state.validator = validator
        }
    }

    /// Appends bytes to the file. The method doesn't flush the bytes to the disk. After a power failure, the length of the file shows how
    /// many bytes were stored.
    func append(_ chunk: [UInt8]) async throws {
        try await perform { file, state in
            try file.handle(&state).write(contentsOf: chunk)
            state.length += Int64(chunk.count)
        }
    }

    /// Flushes the file to the disk, and then replaces the target with the file atomically.
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

    /// Opens the partial file of an earlier download if its origin file contains the address, the session and the varying headers of this
    /// download.
    private func open(_ state: inout State) throws {
        guard let bytes = try? PrivateFile.read(origin.path(percentEncoded: false), upTo: Self.longestOrigin),
            let known = try? JSONDecoder().decode(Origin.self, from: Data(bytes)),
            known.source == source, known.owner == state.owner,
            (known.varying ?? [:]).allSatisfy({ digest(of: $0.key) == $0.value }),
            let length = FileChunks.length(of: partial), length > 0
        else { return }
        let handle = try FileHandle(forUpdating: partial)
        try handle.seekToEnd()
        (state.handle, state.length, state.validator) = (handle, length, known.validator)
    }

    /// Returns the hash of a header of the download's request.
    private func digest(of name: String) -> String { String(PrivateFile.digest(fields.value(of: name)), radix: 16) }

    /// Returns the open file, or creates an empty one.
    private func handle(_ state: inout State) throws -> FileHandle {
        if let handle = state.handle { return handle }
        let path = partial.path(percentEncoded: false)
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        let handle = try FileHandle(forUpdating: partial)
        state.handle = handle
        return handle
    }

    /// Runs a closure on the queue of the file.
    private func perform(_ body: @escaping @Sendable (PartialFile, inout State) throws -> Void) async throws {
        try await queue.run { [self] in try state.withLock { try body(self, &$0) } }
    }
}
