import ErrorContract
import Foundation
import HTTPTypes
import Timekeeping

/// The innermost step of a call: sends one request to the transport, reads the whole response, and decodes errors.
///
/// An exchange returns successes to the middleware, and throws everything else as `APIError`. Four results are errors: an error status, a
/// success whose body reports a failure, a page of another server such as a proxy, and a failure of the transport. Because the exchange
/// converts all of them, all middleware works with one type of error. A 304 is a success only if the request was conditional and no
/// redirect led to another origin.
struct Exchange: Sendable {
    /// Sends the request.
    var transport: any HTTPTransport
    /// The error codes that the app knows.
    let catalogue: ErrorCatalogue
    /// The maximum size of a success's body, in bytes. A larger body is an error of the kind `decoding`.
    let maximumBodySize: Int
    /// Whether code outside the client reads the responses. If so, the exchange returns a success with any body, and reads the bodies of
    /// errors completely.
    var isVerbatim = false
    /// The settings of a body that can take longer than one attempt, such as a download. With `nil`, the exchange reads the whole body
    /// within the time of the attempt.
    var transfer: Transfer?

    /// The settings of a call whose body may take longer than the time of one attempt, such as a download.
    struct Transfer: Sendable {
        /// The maximum time in which no byte is sent or received.
        var idleTimeout: Duration
        /// Whether the exchange returns a success as soon as its head has arrived, with the body as a stream. With `false`, the exchange
        /// reads the whole body first.
        var returnsStream: Bool
    }

    /// Sends a request once, and records the beginning and the end of this attempt.
    ///
    /// The deadline of the call limits every attempt. ``CallContext/attemptTimeout`` is a second limit, which applies only if the request
    /// is safe to repeat and its body is in memory. If the client can't repeat the request, an early end of the attempt would only make the
    /// call fail. If the body is a file or a stream, it can be large and need more time.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, if there is one.
    ///   - context: The call, whose record gets the beginning and the end of the attempt.
    /// - Returns: A success, or the 304 of a conditional request.
    /// - Throws: `APIError` with the number of attempts. If no time is left, the error has the kind `timeout`, and the request was not
    ///   sent.
    nonisolated(nonsending) func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext
    ) async throws(APIError) -> (HTTPResponse, ResponseBody) {
        let number = context.record.attempts + 1
        let begin = context.now
        // If the request can't be retried, an early timeout only makes the call fail. A large body needs more time.
        let mayGiveUp = request.isSafeToRepeat && (body?.isInMemory ?? true)
        let longest = mayGiveUp ? context.attemptTimeout : .seconds(Int64.max / 2)
        let timeout = min(longest, context.deadline - begin)
        guard timeout > .zero else {
            var error = APIError(.timeout, context: context.name)
            (error.retry, error.attempts) = (.never, number - 1)
            throw error
        }
        context.record.note(.attemptStarted(number))
        do throws(APIError) {
            let response = try await exchange(request, body: body, timeout: timeout, context: context)
            if context.record.isHeard {
                context.record.note(.attemptFinished(number, outcome(response.0, duration: context.now - begin)))
            }
            return response
        } catch {
            var error = error
            error.attempts = number
            if error.status != nil { error.sentCredentials = error.sentCredentials ?? request.carriesCredentials }
            if error.status == nil, !error.surelyNeverLeft { context.record.noteLostResponse() }
            if context.record.isHeard {
                context.record.note(.attemptFinished(number, outcome(error, duration: context.now - begin)))
            }
            throw error
        }
    }

    /// Sends a request and reads the response. The header `X-Request-Timeout-Ms` contains the time limit of this attempt in milliseconds.
    private nonisolated(nonsending) func exchange(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        context: CallContext
    ) async throws(APIError) -> (HTTPResponse, ResponseBody) {
        var request = request
        let milliseconds = String(max(1, timeout.wholeMilliseconds))
        if request.headerFields.contains(.requestTimeout) {
            request.headerFields[.requestTimeout] = milliseconds
        } else {
            // Appending a field takes half of the time.
            request.headerFields.append(HTTPField(name: .requestTimeout, value: milliseconds))
        }
        let response: HTTPResponse
        // Read once, because HTTPTypes converts the status from text.
        let status: HTTPResponse.Status
        let bytes: [UInt8]
        let isSuccess: Bool
        let isFromOtherOrigin: Bool
        do {
            let received: (HTTPResponse, ResponseBody)
            if let transfer {
                received = try await transport.stream(request, body: body, timeout: timeout, idleTimeout: transfer.idleTimeout)
            } else {
                received = try await transport.send(request, body: body, timeout: timeout)
            }
            response = received.0
            isFromOtherOrigin = received.1.isFromOtherOrigin
            status = response.status
            isSuccess = status.kind == .successful
            if isSuccess, transfer?.returnsStream == true { return received }
            let limit = isSuccess || isVerbatim ? maximumBodySize : ErrorDecoder.maximumBodySize
            do {
                if let whole = received.1.whole(upTo: limit) {
                    bytes = whole
                } else {
                    let collected = try await received.1.collect(upTo: limit)
                    if isSuccess, collected.isTruncated { throw unreadable(response, nil, context: context) }
                    bytes = collected.bytes
                }
            } catch let error as TransportError where isSuccess && error.code == .tooLarge {
                throw unreadable(response, error, context: context)
            } catch  where !isSuccess && !Task.isCancelled {
                // The status is known. Only the error message of the server is lost.
                bytes = []
            }
        } catch {
            throw APIError(error, isSafeToRepeat: request.isSafeToRepeat, context: context.name)
        }
        // Another origin can't confirm a version, because a transport sends no condition after a redirect.
        if status == .notModified, request.isConditional, !isFromOtherOrigin { return (response, ResponseBody()) }
        guard isSuccess else {
            throw refusal(response, bytes: bytes, context: context).markedAsForeign(if: isFromOtherOrigin)
        }
        if !isVerbatim, let refusal = refusalInSuccess(response, status: status.code, bytes: bytes, context: context) {
            throw refusal.markedAsForeign(if: isFromOtherOrigin)
        }
        return (response, ResponseBody(bytes, isFromOtherOrigin: isFromOtherOrigin))
    }

    /// Returns the error for a response with an error status.
    func refusal(_ response: HTTPResponse, bytes: [UInt8], context: CallContext) -> APIError {
        let decoded = ErrorDecoder().decode(
            status: response.status.code,
            headers: response.headerFields,
            body: bytes,
            now: context.environment.wallClock()
        )
        return error(decoded, of: response, bytes: bytes, context: context)
    }

    /// Returns the error for a success whose body is an error, or a page of another server such as a proxy. Returns `nil` for any other
    /// body.
    private func refusalInSuccess(
        _ response: HTTPResponse,
        status: Int,
        bytes: [UInt8],
        context: CallContext
    ) -> APIError? {
        ErrorDecoder().refusalInSuccess(
            status: status,
            headers: response.headerFields,
            body: bytes,
            now: context.environment.wallClock()
        ).map { error($0, of: response, bytes: bytes, context: context) }
    }

    /// Converts a decoded error response to an `APIError`. Adds the body, the headers, and the time at which the requested delay ends.
    private func error(_ decoded: DecodedError, of response: HTTPResponse, bytes: [UInt8], context: CallContext) -> APIError {
        var error = APIError(decoded, catalogue: catalogue, context: context.name)
        error.body =
            isVerbatim || bytes.count <= ErrorDecoder.maximumBodySize ? bytes : Array(bytes.prefix(ErrorDecoder.maximumBodySize))
        error.headers = response.headerFields
        error.retryAt = error.retryAfter.map { wait in
            context.environment.wallClock().addingTimeInterval(Double(wait.wholeSecondsRoundedUp))
        }
        error.attempts = context.record.attempts
        return error
    }

    /// Returns the error for a success whose body can't be decoded.
    func unreadable(_ response: HTTPResponse, _ underlying: (any Error)?, context: CallContext) -> APIError {
        var error = underlying.map { APIError($0, context: context.name) } ?? APIError(.decoding, context: context.name)
        (error.kind, error.code, error.attempts) = (.decoding, .decodingError, context.record.attempts)
        error.status = response.status.code
        error.requestID = refusal(response, bytes: [], context: context).requestID
        return error
    }

    /// Describes an attempt that succeeded, for the listeners.
    private func outcome(_ response: HTTPResponse, duration: Duration) -> AttemptOutcome {
        AttemptOutcome(
            status: response.status.code,
            code: nil,
            requestID: response.headerFields[.requestID],
            duration: duration
        )
    }

    /// Describes an attempt that failed, for the listeners.
    private func outcome(_ error: APIError, duration: Duration) -> AttemptOutcome {
        AttemptOutcome(
            status: error.status,
            code: error.code,
            requestID: error.requestID,
            duration: duration,
            wasSent: !error.surelyNeverLeft
        )
    }
}

extension HTTPRequest {
    /// Whether the request has credentials that identify a user's session.
    fileprivate var carriesCredentials: Bool { headerFields.contains(.authorization) || headerFields.contains(.cookie) }
}

extension APIError {
    /// Returns the error without a renewal of the session if a redirect led to another origin. The transport sent no credentials there, so
    /// the refusal doesn't concern them, and a new token would not help.
    fileprivate func markedAsForeign(if isFromOtherOrigin: Bool) -> APIError {
        guard isFromOtherOrigin else { return self }
        var error = self
        error.isFromOtherOrigin = true
        error.sentCredentials = false
        if renewal != nil {
            (error.retry, error.recovery) = (.never, .dismiss)
            // The text for the code could state that the user's session has expired.
            error.presentationText = ContractText.unknownError
        }
        return error
    }
}
