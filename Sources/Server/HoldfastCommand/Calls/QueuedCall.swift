import ArgumentParser
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import OfflineQueue
import ResilientHTTP
import StrictJSON
import Timekeeping

/// A call through an offline queue, or the delivery of the requests that the queue stores: `holdfast call --queue`.
struct QueuedCall {
    /// The folder of the queue, which is created if it is missing.
    let folder: URL
    /// The deadline of each request.
    let timeout: Duration
    /// The largest number of retries of a request within its deadline.
    let retries: Int
    /// The account to which the requests belong, and its access token; `nil` for requests without a token.
    let credentials: Credentials?
    /// Whether the command also sends the requests of a folder that was copied, for example from another machine.
    let adopts: Bool
    /// A closure that receives each event when the command reads it.
    let report: @Sendable (QueueLine) -> Void

    /// The file with the requests of the queue.
    private var journal: String { folder.appending(path: "journal").path }

    /// Whether the folder contains a queue. Each queue has a file `journal`.
    var exists: Bool { FileManager.default.fileExists(atPath: journal) }

    /// Stores a request in the queue and sends it. If there is no response, the request stays in the queue.
    /// - Returns: The response, the refusal, or the id of the stored request. If the request is left because the journal could not be
    ///   written, the report contains the reason.
    /// - Throws: `QueueError` if the folder can't be read or written.
    func send(_ request: CallRequest) async throws -> CallReport {
        let queue = try await open(request.base)
        var options = CallOptions.queued()
        if let key = request.key { options = options.idempotencyKey(key) }
        let (end, lines) = await observing(queue) { () async -> CallReport.End in
            do throws(APIError) {
                let result = try await queue.deliver(request.method, request.path, [], request.body, options, "holdfast_call")
                return switch result {
                case .response(let (response, body)): response.map { .success($0, body) } ?? .delivered
                case .queued(let id): .queued(id, pending: queue.counts.pending)
                }
            } catch {
                return .failure(error)
            }
        }
        let failure = queue.takeWriteFailure()
        await queue.resign()
        return makeReport(end, lines, failure, pending: queue.counts.pending)
    }

    /// Sends the stored requests of one server, or of all servers.
    /// - Parameter base: The address of the server; `nil` for all servers to which the stored requests are addressed.
    /// - Returns: The number of delivered requests, of dead letters and of requests that are left. If requests are left because the journal
    ///   could not be written, the report contains the reason.
    /// - Throws: `QueueError` if the folder can't be read or written.
    func drain(_ base: URL?) async throws -> CallReport {
        // Any client can open the folder and read to which servers the requests are addressed. The address of the client therefore doesn't
        // matter.
        let folder = try await open(try base ?? CallRequest.address("http://localhost").base)
        let servers = base.map { [$0] } ?? Set(folder.owners.map(\.server)).sorted().compactMap { URL(string: $0) }
        var (delivered, letters, lines) = (0, 0, [QueueLine]())
        var failure: QueueError?
        for server in servers {
            let queue = try await open(server)
            let before = queue.counts.delivered
            let (_, read) = await observing(queue) { await queue.drain() }
            lines += read
            failure = failure ?? queue.takeWriteFailure()
            // If the queue was already paused when the command opened it, there is no event about the pause.
            for request in try await queue.pending(limit: 1) {
                guard case .paused(let reason) = request.status, reason != .otherServer else { continue }
                let line = QueueLine(elapsed: read.last?.elapsed ?? .zero, event: .paused(request.owner, reason), status: nil)
                report(line)
                lines.append(line)
            }
            await queue.resign()
            delivered += queue.counts.delivered - before
            letters += read.count { $0.isDeadLetter }
        }
        // Reads the changes that other processes made to the folder.
        _ = try await folder.pending(limit: 0)
        let pending = folder.counts.pending
        let end = CallReport.End.drained(delivered: delivered, deadLetters: letters, pending: pending)
        return makeReport(end, lines, failure, pending: pending)
    }

    /// Returns a report. It contains the failed write to the journal only if requests are left, because the queue may have repeated the
    /// write with success.
    private func makeReport(
        _ end: CallReport.End,
        _ lines: [QueueLine],
        _ failure: QueueError?,
        pending: Int
    ) -> CallReport {
        let unwritten = pending > 0 ? failure.map { JournalFailure(path: journal, error: $0) } : nil
        return CallReport(end, events: lines.map(\.json), journalFailure: unwritten)
    }

    /// Returns a client for a server. The client can't refresh a session, because the command has only an access token.
    private func client(_ base: URL) -> APIClient {
        let session = credentials.map { credentials in
            Session(store: MemoryCredentialStore(credentials)) { _ in throw APIError(.unauthorized) }
        }
        return APIClient(
            baseURL: base,
            transport: .urlSession(),
            timeout: timeout,
            session: session,
            middleware: ClientPipeline.standard(retry: RetryMiddleware(RetryPolicy(maximumRetries: retries)))
        )
    }

    /// Opens the queue for a server.
    private func open(_ base: URL) async throws -> OfflineQueue { try await open(client(base)) }

    /// Opens the queue with a client, and adopts a copied folder if the option is set.
    private func open(_ client: APIClient) async throws -> OfflineQueue {
        var options = OfflineQueue.Options()
        // A lane that fails waits for the next command. With the usual backoff, whose random delay can be very short, a command that is
        // about to end could send the request once more.
        options.backoff = Backoff(base: .seconds(1_000_000_000), cap: .seconds(1_000_000_000))
        let queue = try await OfflineQueue.open(folder, client: client, options: options)
        if adopts { try await queue.adopt() }
        return queue
    }

    /// Reports the events of a queue until a closure has returned. Returns the result of the closure, and the events.
    private func observing<Result>(
        _ queue: OfflineQueue,
        _ body: () async -> Result
    ) async -> (Result, [QueueLine]) {
        let start = ContinuousClock.now
        let events = queue.events
        let reader = Task {
            var lines: [QueueLine] = []
            // The loop ends when the task is canceled and all events are read.
            for await event in events {
                let status = event.request.flatMap(queue.status)
                let line = QueueLine(elapsed: ContinuousClock.now - start, event: event, status: status)
                report(line)
                lines.append(line)
            }
            return lines
        }
        let result = await body()
        reader.cancel()
        return (result, await reader.value)
    }
}

/// A failed write to the journal of a queue, which kept requests in the queue.
struct JournalFailure: CustomStringConvertible {
    /// The file of the journal.
    let path: String
    /// The reason of the failure.
    let error: QueueError

    var description: String {
        """
        the journal \(path) could not be written: \(reason). Requests are left in the queue, and the server may have received some \
        of them. Check the permissions and the free space of the folder, and send the requests with --drain. Each request keeps \
        its idempotency key, so the server does not perform it twice.
        """
    }

    /// The reason of the failure, in words.
    private var reason: String {
        guard case .storage(let cause as JournalError) = error else { return "\(error)" }
        return switch cause {
        case .full: "the disk is full"
        case .busy: "another process uses it"
        case .io(let code): String(cString: strerror(code))
        default: "\(error)"
        }
    }
}

extension QueueEvent {
    /// The request that the event is about.
    var request: QueuedRequestID? {
        switch self {
        case .queued(let id), .edited(let id), .sending(let id), .delivered(let id), .failed(let id, _), .deadLettered(let id, _),
            .expired(let id), .revived(let id), .removed(let id):
            id
        case .discarded, .paused, .resumed, .missed: nil
        }
    }
}

/// One event of a queue.
struct QueueLine: Sendable {
    /// The time since the command began to read the events of the queue.
    let elapsed: Duration
    /// The event with its values.
    let event: QueueEvent
    /// The state of the request. The state of a dead letter includes the reason why the queue stopped sending it.
    let status: QueuedRequest.Status?

    /// Whether the event made the request a dead letter, which the queue no longer sends.
    var isDeadLetter: Bool {
        switch event {
        case .deadLettered, .expired: true
        default: false
        }
    }

    /// The error that made the request a dead letter; `nil` for other events.
    private var refusal: APIError? {
        guard case .deadLetter(let letter) = status else { return nil }
        return letter.error
    }

    /// Returns the line as text for a terminal.
    func text(in style: TextStyle) -> String {
        TimelineLine.text(elapsed, (event.request.map { "request \($0): " } ?? "") + words(in: style), in: style)
    }

    /// Returns the event in words, with colors.
    private func words(in style: TextStyle) -> String {
        switch event {
        case .queued: "stored"
        case .edited: "replaced"
        case .sending: "attempt"
        case .delivered: style.good("delivered")
        case .failed(_, let failure):
            style.bad([failure.status.map { "\($0)" }, failure.code.rawValue].compactMap(\.self).joined(separator: " "))
                + style.waiting(", sent again " + (failure.retryAfter.map { "after \($0.inSeconds)" } ?? "later"))
        case .deadLettered(_, let reason):
            style.bad("dead letter: \(reason.words)" + (refusal.map { ", \($0.status.map { "\($0) " } ?? "")\($0.code)" } ?? ""))
        case .expired: style.bad("dead letter: not sent within its lifetime")
        case .revived: "stored again"
        case .removed: "removed"
        case .discarded: "the requests of an account were discarded"
        case .paused(_, let reason): style.waiting("paused: \(reason.words)")
        case .resumed: "resumed"
        case .missed(let count): "\(count) events more"
        }
    }

    /// The line as JSON.
    var json: JSONValue {
        var members: [(String, JSONValue)] = [("elapsed_ms", .integer(elapsed.wholeMilliseconds)), ("event", .string(name))]
        if let id = event.request { members.append(("request", .integer(Int64(clamping: id.rawValue)))) }
        switch event {
        case .failed(_, let failure):
            members += [
                ("status", failure.status.map { .integer(Int64($0)) } ?? .null), ("code", .string(failure.code.rawValue)),
                ("request_id", failure.requestID.map { .string($0) } ?? .null),
                ("wait_ms", failure.retryAfter.map { .integer($0.wholeMilliseconds) } ?? .null),
            ]
        case .deadLettered(_, let reason):
            members += [
                ("reason", .string(reason.rawValue)), ("status", refusal?.status.map { .integer(Int64($0)) } ?? .null),
                ("code", refusal.map { .string($0.code.rawValue) } ?? .null),
            ]
        case .paused(_, let reason): members.append(("reason", .string(reason.rawValue)))
        case .missed(let count): members.append(("count", .integer(Int64(count))))
        default: break
        }
        return .object(JSONObject(members))
    }

    /// The name of the event in JSON. Programs depend on it, so it doesn't change.
    private var name: String {
        switch event {
        case .queued: "queued"
        case .edited: "edited"
        case .sending: "sending"
        case .delivered: "delivered"
        case .failed: "failed"
        case .deadLettered: "dead_lettered"
        case .expired: "expired"
        case .revived: "revived"
        case .removed: "removed"
        case .discarded: "discarded"
        case .paused: "paused"
        case .resumed: "resumed"
        case .missed: "missed"
        }
    }
}

extension DeadLetter.Reason {
    /// The reason of a dead letter, in words.
    fileprivate var words: String {
        switch self {
        case .refused: "refused"
        case .unknownOutcome: "the outcome is unknown, and the key is too old"
        case .expired: "not sent within its lifetime"
        case .failedRepeatedly: "the server failed too often"
        }
    }
}

extension QueuePause {
    /// The reason of a pause, in words.
    fileprivate var words: String {
        switch self {
        case .signedOut: "it needs a token of its account"
        case .otherAccount: "it belongs to another account"
        case .otherServer: "it belongs to another server"
        case .unauthorized: "the server refused the token"
        }
    }
}
