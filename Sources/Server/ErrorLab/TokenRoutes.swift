import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServerMiddleware

/// The routes of the lab that issue tokens with a short lifetime, refresh them, and serve requests that contain them.
struct TokenRoutes<Context: ErrorLabRequestContext>: Sendable {
    /// The sessions and their tokens.
    let store: LabTokenStore
    let renderer: LabResponseRenderer
    let time: LabTime

    /// Opens a session. The query parameters `lifetime_ms`, `expired`, `refreshes` and `refresh_delay_ms` define the behavior of its
    /// tokens.
    @Sendable func open(_ request: Request, _ context: Context) throws -> Response {
        var query = try LabQuery(request)
        let rules = LabTokenStore.Rules(
            lifetime: query.whole("lifetime_ms", in: 0...3_600_000, default: 5_000),
            isExpired: query.flag("expired"),
            refreshes: query.whole("refreshes", in: 0...1_000_000, default: 1_000),
            refreshDelay: query.whole("refresh_delay_ms", in: 0...10_000, default: 0)
        )
        try query.finish()
        return try BufferedResponse.json(encoding: store.open(rules)).response
    }

    /// Refreshes a session, after the delay that the client chose when it opened the session.
    /// - Throws: ``ContractError`` with `AUTH_REFRESH_FAILED`.
    @Sendable func refresh(_ request: Request, _ context: Context) async throws -> Response {
        try LabQuery(request).finish()
        let token = try await RequestReader().read(LabRefresh.self, from: request).refreshToken
        do {
            try await LabConnection(channel: context.channel, time: time).sleep(milliseconds: store.delay(of: token))
        } catch {
            return Response(status: .requestTimeout)
        }
        let tokens: LabTokens
        do throws(LabTokenRefusal) {
            tokens = try store.refresh(token)
        } catch {
            throw ContractError(error.code)
        }
        return try BufferedResponse.json(encoding: tokens).response
    }

    /// Returns a success if the access token of a request is valid. The query parameter `form` selects the format of an error.
    ///
    /// If the token is missing or not valid, the method doesn't throw, but returns an error response with `WWW-Authenticate`.
    /// - Throws: ``ContractError`` with the invalid parameters.
    @Sendable func protected(_ request: Request, _ context: Context) async throws -> Response {
        var query = try LabQuery(request)
        let form = query.form()
        try query.finish()
        let use: LabTokenStore.Use
        do throws(LabTokenRefusal) {
            use = try admit(request)
        } catch {
            var plain = try await renderer.error(error.code, form: form, to: request, requestID: context.requestID)
            // RFC 6750 §3: the response to a request without a token contains no error code.
            plain.headers[.wwwAuthenticate] = error.code == .authTokenMissing ? "Bearer" : "Bearer error=\"invalid_token\""
            return plain.response
        }
        let reply = LabSuccess(
            method: request.method.rawValue,
            attempt: use.calls,
            authorized: true,
            refreshes: use.refreshes,
            reuses: use.reuses
        )
        return try renderer.success(reply, isWrapped: false).response
    }

    /// Checks the access token of a request, and counts the call.
    /// - Throws: `AUTH_TOKEN_MISSING` without a bearer token, and the refusals of ``LabTokenStore/admit(_:)``.
    private func admit(_ request: Request) throws(LabTokenRefusal) -> LabTokenStore.Use {
        guard let field = request.headers[.authorization] else { throw LabTokenRefusal(code: .authTokenMissing) }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw LabTokenRefusal(code: .authTokenMissing) }
        return try store.admit(String(parts[1]))
    }
}
