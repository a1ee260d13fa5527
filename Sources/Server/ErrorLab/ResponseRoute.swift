import ErrorContract
import ErrorLabContract
import HTTPTypes
import Hummingbird
import NIOCore
import ServerMiddleware

/// The route of the lab that responds as the parameters of the request specify.
///
/// The route takes these steps:
///
/// 1. If the query requests a redirect, the route redirects.
/// 2. If the query selects only some calls of the session to fail, and this call is not one of them, the route responds with the outcome
///    `then`. By default, `then` is a success.
/// 3. Otherwise, the route waits for the requested delay, renders the response, and applies the requested defects to its bytes. It then
///    sends the response, and pauses or breaks the connection as requested.
struct ResponseRoute<Context: ErrorLabRequestContext>: Sendable {
    /// Renders successes, errors of the contract, and errors of other servers.
    let renderer: LabResponseRenderer
    /// The counts of calls, for queries that let only some calls fail.
    let sessions: LabSessions
    /// The clock of delays.
    let time: LabTime

    /// Responds to a request.
    /// - Throws: ``ContractError`` with all invalid parameters.
    @Sendable func respond(_ request: Request, _ context: Context) async throws -> Response {
        let parameters = try LabQuery(request).parameters
        let requested: LabResponse
        do throws(LabRefusal) {
            requested = try LabResponse(parameters: parameters, catalogue: renderer.errors.catalogue)
        } catch {
            throw ContractError(error)
        }
        let connection = LabConnection(channel: context.channel, time: time)
        if let redirect = requested.redirect { return try self.redirect(requested, to: redirect, request, connection) }
        let call = sessions.count(session: requested.session, query: request.uri.query ?? "")
        guard requested.fails(call: call) else {
            return try await plain(requested.then, requested, call, request, context).response
        }
        do {
            try await connection.sleep(milliseconds: requested.delay)
        } catch {
            // The client has disconnected, or the server is shutting down.
            return Response(status: .requestTimeout)
        }
        if requested.drop == .before {
            await connection.drop(requested.close)
            return Response(status: .ok)
        }
        var plain = try await failing(requested, call, request, context)
        if let delay = requested.retryAfter { renderer.name(delay, in: &plain) }
        plain.apply(requested)
        return LabResponseDelivery(connection: connection).response(plain, requested)
    }

    /// Renders the response of a call that must fail: an error of another server, or the requested outcome. The caller applies the defects.
    private func failing(
        _ requested: LabResponse,
        _ call: Int,
        _ request: Request,
        _ context: Context
    ) async throws -> BufferedResponse {
        if let family = requested.family, let foreign = renderer.families[family] { return foreign }
        return try await plain(requested.outcome, requested, call, request, context)
    }

    /// Renders the requested outcome without defects.
    private func plain(
        _ outcome: LabOutcome,
        _ requested: LabResponse,
        _ call: Int,
        _ request: Request,
        _ context: Context
    ) async throws -> BufferedResponse {
        let isAuthorized = request.headers[.authorization] != nil
        let reply = LabSuccess(method: request.method.rawValue, attempt: call, authorized: isAuthorized)
        var plain =
            switch outcome {
            case .ok: try renderer.success(reply, isWrapped: false)
            case .wrapped: try renderer.success(reply, isWrapped: true)
            case .code(let code):
                try await renderer.error(
                    code,
                    form: requested.form,
                    delay: requested.retryAfter,
                    language: requested.language,
                    to: request,
                    requestID: context.requestID
                )
            }
        plain.headers[.requestID] = context.requestID
        return plain
    }

    /// Returns a redirect to the same path and query, but without the parameter `redirect`. The target is the same origin, or another
    /// origin with the other name of this machine.
    private func redirect(
        _ requested: LabResponse,
        to redirect: LabRedirect,
        _ request: Request,
        _ connection: LabConnection
    ) throws -> Response {
        var target = requested
        target.redirect = nil
        var status = 302
        if let wanted = requested.status, LabRedirect.statuses.contains(wanted) { (status, target.status) = (wanted, nil) }
        // A group of the router can precede the path of the lab, so the path of the request is used. A path with two slashes at the start
        // would be the name of another host. A relative target would be shorter, but URLSession on Linux follows it to another path.
        let path = "/" + String(request.uri.path.drop { $0 == "/" })
        var location = LabPath.join(path, target.parameters)
        if redirect == .cross {
            guard let port = connection.localPort else {
                throw ContractError(
                    LabRefusal([.init(parameter: "redirect", code: .validationInvalidInput, allowed: "same: there is no port")])
                )
            }
            // The redirect uses one of two fixed names of this machine. The request only selects the name.
            let isNamed = RequestHost(request.head.authority ?? "")?.name == "localhost"
            location = "http://\(isNamed ? "127.0.0.1" : "localhost"):\(port)\(location)"
        }
        return Response(status: .init(code: status), headers: [.location: location])
    }
}

/// Sends a response with the requested pauses, up to the point at which the connection must break.
struct LabResponseDelivery: Sendable {
    /// The largest number of chunks of a slow body.
    static let maximumPieces = 20

    /// An error that stops the writing of a body, because the lab closes the connection.
    private struct Broken: Error {}

    /// The connection of the response. This type may close it during the body.
    let connection: LabConnection

    /// Returns the response to send.
    ///
    /// If the query requests that the connection breaks during the response, `Content-Length` is the length of the complete body. If the
    /// query only requests a truncated body, `Content-Length` is the truncated length, so the response is valid HTTP with incomplete
    /// content.
    func response(_ plain: BufferedResponse, _ requested: LabResponse) -> Response {
        var sent = plain.body[...]
        var promised = sent.count
        switch (requested.drop, requested.truncate) {
        case (.headers, _): sent = []
        case (.body, let limit): sent = sent.prefix(limit ?? sent.count / 2)
        case (_, let limit?):
            sent = sent.prefix(limit)
            promised = sent.count
        default: break
        }
        var whole = plain
        whole.body = Array(sent)
        guard requested.drop != nil || requested.dribble > 0 else { return whole.response }
        let pieces = Self.pieces(of: whole.body, isSlow: requested.dribble > 0)
        let body = ResponseBody(contentLength: promised) { [connection] writer in
            for piece in pieces {
                try await connection.sleep(milliseconds: requested.dribble)
                try await writer.write(ByteBuffer(bytes: piece))
            }
            guard requested.drop == nil else {
                await connection.drop(requested.close)
                throw Broken()
            }
            try await writer.finish(nil)
        }
        return Response(status: .init(code: plain.status), headers: plain.headers, body: body)
    }

    /// Splits a slow body into at most 20 chunks of equal size. Any other body is one chunk.
    private static func pieces(of bytes: [UInt8], isSlow: Bool) -> [ArraySlice<UInt8>] {
        guard isSlow, !bytes.isEmpty else { return bytes.isEmpty ? [] : [bytes[...]] }
        let size = (bytes.count + maximumPieces - 1) / maximumPieces
        return stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    }
}
