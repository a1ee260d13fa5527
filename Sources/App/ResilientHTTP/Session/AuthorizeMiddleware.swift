import ErrorContract
public import HTTPTypes
import RateLimiting
import Timekeeping

/// Adds the session's access token to requests. If the error code of a response requires a new token, refreshes the session.
///
/// After a refresh, the middleware repeats a call at most once. If the new token also gets a 401, the call throws this 401. The middleware
/// doesn't change a request that already has `Authorization`. The error code of the response, not the status, determines whether the
/// middleware refreshes the session. For example, an invalid API key also causes a 401, but this 401 doesn't change the session.
///
/// If a refresh fails for a temporary reason (a 503, a lost connection), the session repeats the refresh until the deadline of the call. If
/// a token is about to expire, the session refreshes it before the call. If this refresh fails for a temporary reason, the middleware sends
/// the call with the present token.
///
/// A call belongs to the session that authorized its first attempt. The middleware never sends the call with the tokens of a user who
/// signed in later, and after a sign-out it doesn't repeat the call without a token. A call of an offline queue belongs to the account that
/// was signed in when the app stored it. The middleware sends this call only with a token of that account, and never prompts the user to
/// sign in.
///
/// An app rarely creates this middleware. A client that is created with a session adds the middleware as its last layer, and so does
/// ``APIClient/authorized(by:)``.
public struct AuthorizeMiddleware: ClientMiddleware {
    /// The session whose access token the middleware adds to requests.
    public let session: Session
    /// The identifier of the session to which all calls belong; `nil` if a call belongs to the session of its first attempt.
    var sessionID: String?

    /// Creates the middleware. Several clients may share one session.
    /// - Parameter session: The session whose access token the middleware adds to requests.
    public init(_ session: Session) {
        self.session = session
    }

    /// Sends a request with the session's access token. If the server requires a new token, renews the session and repeats the request
    /// once.
    /// - Parameters:
    ///   - request: The request without its body. If it has `Authorization`, the middleware passes it on unchanged.
    ///   - body: The body, if there is one. If the body can't be sent twice, the middleware doesn't repeat the request.
    ///   - context: The call. Its deadline also limits the wait for a new token.
    ///   - next: Passes the request to the next layer.
    /// - Returns: The response of `next`.
    /// - Throws: The server's refusal if the session gets no new token, or if the server also refuses the new token. `APIError` of the kind
    ///   `unauthorized` if the session has ended or another user has signed in since the first attempt. The error of the refresh if it
    ///   still fails for a temporary reason at the deadline. `APIError` of the kind `timeout` if the refresh is still in flight at the
    ///   deadline. The error of the store if the credentials can't be read.
    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard context.policy.isAuthorized, !request.headerFields.contains(.authorization) else {
            return try await next(request, body)
        }
        if let sessionID { _ = context.bind(sessionID) }
        var held = try await current(context)
        if held == nil, context.session != nil, context.policy.account == nil, !session.renewal.isIdle {
            // The session of the call has ended. If the user signs in at the prompt that is shown now, the call continues.
            held = try await renewed(after: nil, by: .signIn, refusedWith: nil, context: context)
        }
        try bind(context, to: held)
        do {
            return try await next(request.signed(with: held), body)
        } catch let error as APIError {
            guard let way = error.renewal, body?.isOneShot != true else { throw error }
            guard way == .refresh || context.policy.account == nil else { throw error }
            guard let renewed = try await renewed(after: held, by: way, refusedWith: error, context: context) else { throw error }
            try bind(context, to: renewed)
            return try await next(request.signed(with: renewed), body)
        }
    }

    /// Binds a call to the session of its first attempt, so that a retry never carries the tokens of another user.
    ///
    /// If the user has signed out since the first attempt, the call fails. Without a token, the server could perform the request for no
    /// user. Or the server would refuse the request, and the session would prompt the user who has just signed out to sign in.
    /// - Throws: An error of the kind `unauthorized` if the session of the first attempt has ended, if another session has begun, or if the
    ///   account that the call requires is not signed in.
    private func bind(_ context: CallContext, to held: SessionState.Held?) throws {
        if let account = context.policy.account, held?.credentials.userID != account { throw APIError.signedOut.named(context) }
        guard let id = held?.sessionID else {
            guard context.session == nil else { throw APIError.signedOut.named(context) }
            return
        }
        let bound = context.bind(id)
        guard bound != id, !session.mayContinue(bound, as: id) else { return }
        var error = APIError.signedOut
        error.recovery = .dismiss
        throw error.named(context)
    }

    /// Returns the credentials to send; `nil` if no user is signed in. If the access token is about to expire, refreshes it first.
    private func current(_ context: CallContext) async throws -> SessionState.Held? {
        guard let held = try await session.held() else { return nil }
        guard session.isEnding(held) else { return held }
        // If the session ends during the refresh, the call fails.
        if let id = held.sessionID { _ = context.bind(id) }
        do {
            return try await renewed(after: held, by: .refresh, refusedWith: nil, context: context) ?? held
        } catch let error as APIError where error.kind != .unauthorized && error.kind != .cancelled {
            // The refresh failed for a temporary reason. The server may still accept the present token.
            return try await session.held()
        }
    }

    /// Renews the session. The call waits for the renewal at most until its deadline. The renewal itself continues after the deadline, for
    /// other calls.
    /// - Parameters:
    ///   - stale: The credentials to be replaced; `nil` if the request had no token.
    ///   - way: Whether to refresh the session, or to prompt the user to sign in.
    ///   - refusal: The server's refusal of the present credentials. With `nil`, the server has not refused them, but they are about to
    ///     expire. The session then makes only one attempt to refresh.
    /// - Returns: The new credentials; `nil` if too many renewals succeeded recently.
    private func renewed(
        after stale: SessionState.Held?,
        by way: Renewal,
        refusedWith refusal: APIError?,
        context: CallContext
    ) async throws -> SessionState.Held? {
        let deadline = context.deadline
        // A call whose session has ended can wait for the prompt that is shown now, but shows none. The user may have just signed out.
        let mayPrompt = context.policy.account == nil && (stale != nil || context.session == nil)
        do {
            // The deadline ends the wait of this call. The renewal itself continues.
            let ended = try await context.environment.clock.run(until: deadline) {
                try await session.renewed(after: stale, by: way, until: refusal == nil ? nil : deadline, mayPrompt: mayPrompt)
            }
            guard let ended else {
                var error = APIError(.timeout)
                error.isRefreshFailure = true
                throw error
            }
            guard let renewal = ended else { return nil }
            context.record.note(.refreshed(isShared: renewal.isShared))
            return renewal.held
        } catch let error as APIError {
            guard error.kind == .unauthorized else { throw error.named(context) }
            // The call throws the server's refusal of its request, because this refusal contains the server's message.
            var final = refusal ?? error
            final.recovery = error.recovery
            throw final.named(context)
        }
    }
}

extension HTTPRequest {
    /// Returns the request with the access token; unchanged if there are no credentials.
    fileprivate func signed(with held: SessionState.Held?) -> HTTPRequest {
        guard let held else { return self }
        var request = self
        request.headerFields[.authorization] = "Bearer \(held.credentials.accessToken)"
        return request
    }
}

extension APIError {
    /// The renewal that a call needs before it is repeated; `nil` if no renewal helps.
    var renewal: Renewal? {
        switch retry {
        case .afterRefresh, .afterRefreshOrSignIn: .refresh
        case .afterSignIn: .signIn
        case .never, .afterDelay, .onlyAfterNamedDelay, .withBackoff: nil
        }
    }

    /// Returns the error with the operation and the number of attempts of a call.
    fileprivate func named(_ context: CallContext) -> APIError {
        var error = self
        error.context = context.name
        error.attempts = context.record.attempts
        return error
    }
}
