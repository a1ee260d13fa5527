import ErrorContract
import ErrorLabContract
import HTTPTypes
import Hummingbird
import NIOCore
import ServerMiddleware

/// Responds as the parameters of the request specify.
///
/// The route takes these steps:
///
/// 1. If the query requests a redirect, it redirects.
/// 2. If the call with this number must not fail, it responds with a success.
/// 3. Otherwise it waits for the delay, renders the response and applies the defects to its bytes. Then it sends the response with the
///    requested breaks and pauses.
struct ResponseRoute<Context: ErrorLabRequestContext>: Sendable {
    /// Renders successes and errors of the contract, and the errors of other servers.
    let renderer: LabResponseRenderer
    /// The counts of calls, for responses that fail only the first calls.
    let sessions: LabSessions
    /// The clock of delays.
    let time: LabTime
    /// The path of the lab.
    let root: String

    /// Responds to a request.
    /// - Throws: ``ContractError`` with all invalid parameters.
    @Sendable func answer(_ request: Request, _ context: Context) async throws -> Response {
        let parameters = try LabQuery(request).parameters
        let answer: LabResponse
        do throws(LabRefusal) {
            answer = try LabResponse(parameters: parameters, catalogue: renderer.errors.catalogue)
        } catch {
            throw ContractError(error)
        }
        let connection = LabConnection(channel: context.channel, time: time)
        if let redirect = answer.redirect { return try self.redirect(answer, to: redirect, request, connection) }
        let call = sessions.count(session: answer.session, query: request.uri.query ?? "")
        guard answer.fails(call: call) else {
            return try await plain(answer.then, answer, call, request, context).response
        }
        do {
            try await connection.sleep(milliseconds: answer.delay)
        } catch {
            // The connection is closed, so no client reads this.
            return Response(status: .requestTimeout)
        }
        if answer.drop == .before {
            await connection.drop(answer.close)
            return Response(status: .ok)
        }
        var plain = try await failing(answer, call, request, context)
        if let delay = answer.retryAfter { renderer.name(delay, in: &plain) }
        plain.apply(answer)
        return LabResponseDelivery(connection: connection).response(plain, answer)
    }

    /// Renders the response of a call that fails: an error of another server, or the outcome. The caller applies the defects.
    private func failing(
        _ answer: LabResponse,
        _ call: Int,
        _ request: Request,
        _ context: Context
    ) async throws -> BufferedResponse {
        if let family = answer.family, let foreign = renderer.foreign(family) { return foreign }
        return try await plain(answer.outcome, answer, call, request, context)
    }

    /// Renders an outcome without defects.
    private func plain(
        _ outcome: LabOutcome,
        _ answer: LabResponse,
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
                    form: answer.form,
                    delay: answer.retryAfter,
                    language: answer.language,
                    to: request,
                    requestID: context.requestID
                )
            }
        plain.headers[.requestID] = context.requestID
        return plain
    }

    /// Returns a redirect to the same response without the redirect. The target is the same origin, or another origin: the other name of
    /// this machine.
    private func redirect(
        _ answer: LabResponse,
        to redirect: LabRedirect,
        _ request: Request,
        _ connection: LabConnection
    ) throws -> Response {
        var target = answer
        target.redirect = nil
        var status = 302
        if let wanted = answer.status, [301, 302, 303, 307, 308].contains(wanted) { (status, target.status) = (wanted, nil) }
        var location = target.path(root: root)
        if redirect == .cross {
            guard let port = connection.localPort else {
                throw ContractError(
                    LabRefusal([.init(parameter: "redirect", code: .validationInvalidInput, allowed: "same: there is no port")])
                )
            }
            // The redirect uses one of two fixed names of this machine. The request only selects one of them.
            let isNamed = RequestHost(request.head.authority ?? "")?.name == "localhost"
            location = "http://\(isNamed ? "127.0.0.1" : "localhost"):\(port)\(location)"
        }
        return Response(status: .init(code: status), headers: [.location: location])
    }
}

/// Sends a response with the requested delays, up to the requested point.
struct LabResponseDelivery: Sendable {
    /// The largest number of chunks of a slow body.
    static let maximumPieces = 20

    /// Stops the writing of a body because the connection will be closed.
    private struct Broken: Error {}

    /// The connection of the response. It may be closed during the body.
    let connection: LabConnection

    /// Returns the response to send.
    ///
    /// If the connection breaks during the response, `Content-Length` is the length of the complete body. If the body is only truncated,
    /// `Content-Length` is the truncated length, so only the content is incomplete.
    func response(_ plain: BufferedResponse, _ answer: LabResponse) -> Response {
        var sent = plain.body[...]
        var promised = sent.count
        switch (answer.drop, answer.truncate) {
        case (.headers, _): sent = []
        case (.body, let limit): sent = sent.prefix(limit ?? sent.count / 2)
        case (_, let limit?):
            sent = sent.prefix(limit)
            promised = sent.count
        default: break
        }
        var whole = plain
        whole.body = Array(sent)
        guard answer.drop != nil || answer.dribble > 0 else { return whole.response }
        let pieces = Self.pieces(of: whole.body, isSlow: answer.dribble > 0)
        let body = ResponseBody(contentLength: promised) { [connection] writer in
            for piece in pieces {
                try await connection.sleep(milliseconds: answer.dribble)
                try await writer.write(ByteBuffer(bytes: piece))
            }
            guard answer.drop == nil else {
                await connection.drop(answer.close)
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
