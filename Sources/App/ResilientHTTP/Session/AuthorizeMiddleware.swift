import ErrorContract
public import HTTPTypes
import Timekeeping

/// Signs requests with the session's access token, and refreshes the session when the code of a response asks for it.
///
/// A call is repeated at most once after a refresh; a 401 on a fresh token is thrown. A request that carries `Authorization` already is
/// sent unchanged. The code decides, not the status: a stale API key is a 401 too, and neither refreshes nor signs out.
///
/// A refresh that fails for a passing reason (a 503, a lost connection) is repeated until the deadline of the call. A call belongs to the
/// session that signed its first attempt: it is never sent with the tokens of a user who signed in later. A call for an account, such as
/// one from an offline queue, is sent only with a token of that account, which each attempt checks, and never asks the user to sign in.
public struct AuthorizeMiddleware: ClientMiddleware {
    /// The session.
    public let session: Session

    /// Creates the middleware.
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
    private func bind(_ context: CallContext, to held: SessionState.Held?) throws {
        if let account = context.policy.account, held?.credentials.userID != account { throw APIError.signedOut.named(context) }
        guard let id = held?.sessionID else { return }
        let bound = context.bind(id)
        guard bound != id, !session.mayContinue(bound, as: id) else { return }
        var error = APIError.signedOut
        error.recovery = .dismiss
        throw error.named(context)
    }

    /// The credentials to send, replaced ahead of their expiry.
    private func current(_ context: CallContext) async throws -> SessionState.Held? {
        guard let held = try await session.held() else { return nil }
        guard session.isEnding(held) else { return held }
        do {
            return try await renewed(after: held, by: .refresh, refusedWith: nil, context: context) ?? held
        } catch let error as APIError where error.kind != .unauthorized && error.kind != .cancelled {
            // The refresh failed for a passing reason: the present token may still be accepted.
            return held
        }
    }

    /// - Parameter refusal: The refusal of the present credentials. It is `nil` if the credentials are replaced before they expire; then
    ///   the method makes only one attempt.
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
            // The server's own words, if it said some.
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
    /// How the session must be renewed before the call is repeated; `nil` if that is not what it needs.
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
