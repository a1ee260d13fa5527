import AccountContract
import ErrorContract
import HTTPTypes
public import ResilientHTTP
import Synchronization

/// One submission of a form, with all of its attempts.
///
/// Every request of a submission carries the same `Idempotency-Key`. ``AccountClient`` can therefore retry a request whose response was
/// lost: a server that supports keys performs the change once and repeats its response.
///
/// Create a submission when the user submits a form. If the user tries again with the same content, pass the same submission. Create a new
/// submission if the content changes, and after each success:
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
    /// - Parameter idempotencyKey: A unique key; 128 random bits by default.
    /// - Precondition: `idempotencyKey` has 1 to 255 characters of visible ASCII, without quotes and backslashes.
    public init(idempotencyKey: String = IdempotencyKeyMiddleware.randomKey()) {
        precondition(
            (1...255).contains(idempotencyKey.utf8.count)
                && idempotencyKey.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C },
            "an idempotency key must have 1 to 255 characters of visible ASCII, without quotes and backslashes"
        )
        self.idempotencyKey = idempotencyKey
    }

    /// Whether the server may have performed the change although the client received no response.
    ///
    /// It becomes `true` if a request was sent and its outcome is unknown: the connection broke, the timeout was reached, the body of a
    /// success could not be decoded, or the response had a status such as 500, 502 or 504. A proxy may have sent such a status. If the
    /// server refuses a later attempt, the value stays `true`.
    public var mayHaveTakenEffect: Bool { hasLostResponse.withLock { $0 } }

    fileprivate func noteLostResponse() { hasLostResponse.withLock { $0 = true } }
}

extension AccountClient {
    /// Posts a mutation with the key of its submission, and returns the response.
    /// - Parameter known: The credentials of the session to which the request belongs; `nil` for a request without an access token.
    func post<Value: Decodable>(
        _ path: String,
        _ body: some Encodable,
        _ submission: Submission,
        with known: Credentials? = nil,
        context: String
    ) async throws(APIError) -> Value {
        try await sending(submission, with: known) { api, headers throws(APIError) in
            try await api.post(path, body, headers: headers, context: context)
        }
    }

    /// Posts a mutation with the key of its submission, and returns the text of the response for the user.
    /// - Parameter text: The text if the response has none.
    func message(
        _ path: String,
        _ body: some Encodable,
        _ submission: Submission,
        with known: Credentials? = nil,
        context: String,
        default text: LocalizedText
    ) async throws(APIError) -> String {
        let response: MessageResponse = try await post(path, body, submission, with: known, context: context)
        return response.message ?? self.text(text)
    }

    /// Runs a call of a submission. If the call fails and the server may have performed the change, sets ``Submission/mayHaveTakenEffect``.
    /// - Parameters:
    ///   - submission: The submission, whose key is one of the headers.
    ///   - known: The credentials of the session to which the call belongs; `nil` for a call without an access token. If this session has
    ///     ended, or if another session has begun, the call fails with the kind `unauthorized`.
    ///   - call: Makes the call with a client and headers.
    func sending<Value>(
        _ submission: Submission,
        with known: Credentials?,
        _ call: (APIClient, HTTPFields) async throws(APIError) -> Value
    ) async throws(APIError) -> Value {
        let watch = AttemptWatch()
        var api = known.map { self.api.authorized(by: session, with: $0) } ?? self.api
        api.listeners.append(watch)
        var headers: HTTPFields = [.idempotencyKey: "\"\(submission.idempotencyKey)\""]
        if let deviceName, let name = HTTPField.Name(AccountHeader.deviceName) { headers[name] = deviceName }
        do throws(APIError) {
            return try await call(api, headers)
        } catch {
            if watch.hasLostResponse(endingWith: error) { submission.noteLostResponse() }
            throw error
        }
    }
}

/// Detects from the events of one call whether the response to an attempt was lost.
private final class AttemptWatch: CallListener {
    /// Whether the server may have performed the request of an attempt although the client received no usable response.
    private let hasLostResponse = Mutex(false)

    func hear(_ event: CallEvent) {
        guard case .attemptFinished(_, let outcome) = event.kind, outcome.leavesEffectUnknown else { return }
        hasLostResponse.withLock { $0 = true }
    }

    func hasLostResponse(endingWith error: APIError) -> Bool {
        // `decoding`: the server responded with a success, but the client can't decode the body.
        error.kind == .decoding || hasLostResponse.withLock { $0 }
    }
}

extension AttemptOutcome {
    fileprivate var leavesEffectUnknown: Bool {
        guard let status else { return wasSent }
        // A server sends 503 without performing the request. It may send any other 5xx status after it has performed the request.
        return status >= 500 && status != 503
    }
}

/// The submission of a form, which is reused as long as the user submits the same content.
///
/// If two contents are equal, their requests must have the same bytes. Otherwise, a server refuses the second request with
/// `REQUEST_KEY_REUSED`. For an `EmailAddress`, pass its text: addresses are equal even if the case of their letters differs.
struct RepeatedSubmit<Content: Equatable> {
    private var last: (content: Content, submission: Submission)?

    /// Returns the submission for some content: the last one if its content is equal, otherwise a new one.
    mutating func submission(of content: Content) -> Submission {
        if let last, last.content == content { return last.submission }
        let submission = Submission()
        last = (content, submission)
        return submission
    }

    /// Ends the submission after a success. The next submit then creates a new submission, even with the same content.
    mutating func end() { last = nil }
}
