import ErrorContract
public import HTTPTypes

/// Signs requests with the session's access token, and renews the session when an answer's code asks for it.
///
/// A call is repeated once at most after a renewal; a 401 on a fresh token is thrown. A request that carries `Authorization` already is
/// left alone. It is the code that counts, not the status: a stale API key is a 401 too, and neither refreshes nor signs out.
public struct AuthoriseMiddleware: ClientMiddleware {
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
        guard context.policy.isAuthorised, !request.headerFields.contains(.authorization) else {
            return try await next(request, body)
        }
        let held = try await current(context)
        do {
            return try await next(request.signed(with: held), body)
        } catch let error as APIError {
            guard let way = error.renewal, body?.isOneShot != true else { throw error }
            guard let renewed = try await renewed(after: held, by: way, refusedWith: error, context: context) else { throw error }
            return try await next(request.signed(with: renewed), body)
        }
    }

    /// The credentials to send, replaced ahead of their end.
    private func current(_ context: CallContext) async throws -> Session.Held? {
        guard let held = try await session.held() else { return nil }
        guard session.isEnding(held) else { return held }
        do {
            return try await renewed(after: held, by: .refresh, refusedWith: nil, context: context) ?? held
        } catch let error as APIError where error.kind != .unauthorized && error.kind != .cancelled {
            // It could not be asked: the token at hand may still do.
            return held
        }
    }

    private func renewed(
        after stale: Session.Held?,
        by way: Renewal,
        refusedWith refusal: APIError?,
        context: CallContext
    ) async throws -> Session.Held? {
        let clock = context.surroundings.clock
        do {
            let renewal = try await within(context.deadline, on: clock) {
                try await session.renewed(after: stale, by: way)
            }
            guard let renewal else { return nil }
            context.record.note(.refreshed(isShared: renewal.isShared))
            return renewal.held
        } catch let error as APIError {
            guard error.kind == .unauthorized else { throw error.named(context) }
            // The server's own words, if it said some.
            var final = refusal ?? error
            final.recovery = .signIn
            throw final.named(context)
        }
    }

    /// Ends the wait, not the renewal, at the call's deadline.
    private func within<Value: Sendable>(
        _ deadline: Duration,
        on clock: MonotonicClock,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await clock.sleep(until: deadline)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                throw APIError(kind: .timeout, code: .timeout, retry: .withBackoff, recovery: .retry)
            }
            return value
        }
    }
}

extension HTTPRequest {
    fileprivate func signed(with held: Session.Held?) -> HTTPRequest {
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
