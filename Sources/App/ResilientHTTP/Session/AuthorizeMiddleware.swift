import ErrorContract
public import HTTPTypes
import Timekeeping

/// Signs requests with the session's access token, and refreshes the session when the code of a response requires it.
///
/// A call is repeated at most once after a refresh; a 401 on a fresh token is thrown. A request that already carries `Authorization` is
/// sent unchanged. The error code decides, not the status: a stale API key also causes a 401, and neither refreshes the session nor signs
/// the user out.
///
/// A refresh that fails for a temporary reason (a 503, a lost connection) is repeated until the deadline of the call. A token that is about
/// to expire is refreshed before the call; if that fails for a temporary reason, the call is sent with the present token.
///
/// A call belongs to the session that signed its first attempt: it is never sent with the tokens of a user who signed in later. A call for
/// an account, such as one from an offline queue, is sent only with a token of that account, which each attempt checks, and never prompts
/// the user to sign in.
public struct AuthorizeMiddleware: ClientMiddleware {
    /// The session whose access token requests carry.
    public let session: Session

    /// Creates the middleware. Several clients may share one session.
    public init(_ session: Session) {
        self.session = session
    }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard context.policy.isAuthorized, !request.headerFields.contains(.authorization) else {
            return try await next(request, body)
        }
        let held = try await current(context)
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
    /// - Throws: An error of the kind `unauthorized` if another session or account is signed in by now.
    private func bind(_ context: CallContext, to held: SessionState.Held?) throws {
        if let account = context.policy.account, held?.credentials.userID != account { throw APIError.signedOut.named(context) }
        guard let id = held?.sessionID else { return }
        let bound = context.bind(id)
        guard bound != id, !session.mayContinue(bound, as: id) else { return }
        var error = APIError.signedOut
        error.recovery = .dismiss
        throw error.named(context)
    }

    /// The credentials to send, refreshed if they are about to expire; `nil` if no user is signed in.
    private func current(_ context: CallContext) async throws -> SessionState.Held? {
        guard let held = try await session.held() else { return nil }
        guard session.isEnding(held) else { return held }
        do {
            return try await renewed(after: held, by: .refresh, refusedWith: nil, context: context) ?? held
        } catch let error as APIError where error.kind != .unauthorized && error.kind != .cancelled {
            // The refresh failed for a temporary reason: the present token may still be accepted.
            return held
        }
    }

    /// Renews the session, until the deadline of the call at most. The renewal itself continues after the deadline, for other calls.
    /// - Parameters:
    ///   - stale: The credentials to be replaced; `nil` if the request carried none.
    ///   - way: The required renewal.
    ///   - refusal: The refusal of the present credentials; `nil` if they are replaced before they expire, for which one attempt is enough.
    /// - Returns: `nil` if the present credentials are to be used nevertheless.
    private func renewed(
        after stale: SessionState.Held?,
        by way: Renewal,
        refusedWith refusal: APIError?,
        context: CallContext
    ) async throws -> SessionState.Held? {
        let deadline = context.deadline
        let mayPrompt = context.policy.account == nil
        do {
            // The deadline of the call ends the wait, not the renewal.
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
            // The refusal of the call, which contains the server's message.
            var final = refusal ?? error
            final.recovery = error.recovery
            throw final.named(context)
        }
    }
}

extension HTTPRequest {
    fileprivate func signed(with held: SessionState.Held?) -> HTTPRequest {
        guard let held else { return self }
        var request = self
        request.headerFields[.authorization] = "Bearer \(held.credentials.accessToken)"
        return request
    }
}

extension APIError {
    /// The renewal of the session that must precede a repetition of the call; `nil` if a renewal does not help.
    var renewal: Renewal? {
        switch retry {
        case .afterRefresh, .afterRefreshOrSignIn: .refresh
        case .afterSignIn: .signIn
        case .never, .afterDelay, .onlyAfterNamedDelay, .withBackoff: nil
        }
    }

    fileprivate func named(_ context: CallContext) -> APIError {
        var error = self
        error.context = context.name
        error.attempts = context.record.attempts
        return error
    }
}
