import ErrorContract
import HTTPTypes
public import ResilientHTTP
import Synchronization

/// One submit of a form, over all of its attempts.
///
/// Every request of a submission carries the same `Idempotency-Key`. ``AccountClient`` may therefore repeat a request whose response
/// was lost, and a server that honors keys performs the mutation once and repeats its response. Create a submission when the user
/// submits a form, pass it again when the user tries again with the same content, and create another one when the content changes
/// or after a success:
///
/// ```swift
/// let submission = Submission()
/// _ = try await client.confirmReset(link, newPassword: password, submission: submission)
/// // The connection breaks, and the user taps "Try again":
/// _ = try await client.confirmReset(link, newPassword: password, submission: submission)
/// ```
public final class Submission: Sendable {
    /// The key, without the quotes that the header field adds.
    public let idempotencyKey: String
    private let hasLostResponse = Mutex(false)

    /// Creates a submission.
    /// - Parameter idempotencyKey: A key that no other submission has: 128 random bits by default.
    /// - Precondition: `idempotencyKey` has 1 to 255 characters of visible ASCII, without quotes and backslashes.
    public init(idempotencyKey: String = IdempotencyKeyMiddleware.randomKey()) {
        precondition(
            (1...255).contains(idempotencyKey.utf8.count)
                && idempotencyKey.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C },
            "an idempotency key must have 1 to 255 characters of visible ASCII, without quotes and backslashes"
        )
        self.idempotencyKey = idempotencyKey
    }

    /// Whether the server may have performed the mutation although no response to it arrived.
    ///
    /// True once an attempt has failed after its request was sent: the connection broke, the time was up, or a server in between
    /// responded with 500, 502 or 504. A refusal doesn't reset it.
    public var mayHaveTakenEffect: Bool { hasLostResponse.withLock { $0 } }

    func noteLostResponse() { hasLostResponse.withLock { $0 = true } }
}

extension AccountClient {
    /// Posts a mutation with the key of its submission, and returns the response.
    func post<Value: Decodable>(
        _ path: String,
        _ body: some Encodable,
        _ submission: Submission,
        context: String
    ) async throws(APIError) -> Value {
        try await submission.watching(api) { api throws(APIError) in
            try await api.post(path, body, headers: submission.headers, context: context)
        }
    }

    /// Posts a mutation with the key of its submission, for a response without content.
    func post(_ path: String, _ body: some Encodable, _ submission: Submission, context: String) async throws(APIError) {
        try await submission.watching(api) { api throws(APIError) in
            try await api.post(path, body, headers: submission.headers, context: context)
        }
    }
}

extension Submission {
    fileprivate var headers: HTTPFields { [.idempotencyKey: "\"\(idempotencyKey)\""] }

    /// Runs a call, and notes if one of its attempts lost the response.
    fileprivate func watching<Value>(
        _ api: APIClient,
        _ call: (APIClient) async throws(APIError) -> Value
    ) async throws(APIError) -> Value {
        let watch = AttemptWatch()
        var api = api
        api.listeners.append(watch)
        do throws(APIError) {
            return try await call(api)
        } catch {
            if watch.hasLostResponse(endingWith: error) { noteLostResponse() }
            throw error
        }
    }
}

/// Hears of the attempts of one call.
private final class AttemptWatch: CallListener {
    /// Whether the server may have performed the request in an attempt that brought no response.
    private let hasLostResponse = Mutex(false)

    func hear(_ event: CallEvent) {
        guard case .attemptFinished(_, let outcome) = event.kind, outcome.leavesEffectUnknown else { return }
        hasLostResponse.withLock { $0 = true }
    }

    func hasLostResponse(endingWith error: APIError) -> Bool {
        // `decoding`: the server sent a success that can't be read.
        error.kind == .decoding || hasLostResponse.withLock { $0 }
    }
}

extension AttemptOutcome {
    fileprivate var leavesEffectUnknown: Bool {
        guard let status else { return wasSent }
        // A 503 is sent instead of performing the request; the others may follow its effect.
        return status >= 500 && status != 503
    }
}

/// The submission of a form, kept as long as the user submits the same content.
struct RepeatedSubmit<Content: Equatable> {
    private var last: (content: Content, submission: Submission)?

    /// The submission for some content: the last one if that had the same content, else a new one.
    mutating func submission(of content: Content) -> Submission {
        if let last, last.content == content { return last.submission }
        let submission = Submission()
        last = (content, submission)
        return submission
    }

    /// Ends the submission after a success: the same content begins a new one.
    mutating func end() { last = nil }
}
