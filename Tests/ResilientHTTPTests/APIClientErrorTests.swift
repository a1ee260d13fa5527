import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import StrictJSON
import Testing

@Suite struct APIClientErrorTests {
    private func get(_ step: ScriptedTransport.Step, context: String? = nil) async throws -> APIError? {
        let client = try makeClient(ScriptedTransport([step]))
        return await failure {
            let _: Activity = try await client.get("/activities", context: context)
        }
    }

    private func post(_ step: ScriptedTransport.Step) async throws -> APIError? {
        let client = try makeClient(ScriptedTransport([step]))
        return await failure { try await client.post("/activities", Activity(id: 1, name: "a")) }
    }

    @Test("Validates the status before the body: a body of success stays an error", arguments: [300, 400, 404, 500, 503])
    func statusFirst(status: Int) async throws {
        let error = try await get(.response(status: status, body: #"{"success":true,"data":{"id":1,"name":"a"}}"#))
        #expect(error?.status == status)
        #expect(error?.kind != .decoding)
    }

    @Test("Reads an error of the contract with all of its facts")
    func contract() async throws {
        let body =
            #"{"error":{"code":"VALIDATION_INVALID_INPUT","message":"Mal","details":{"validation_errors":"#
            + #"[{"field":"email","code":"VALIDATION_INVALID_EMAIL","message":"x"}]},"request_id":"b"}}"#
        let error = try await get(.response(status: 400, headers: [.requestID: "r1"], body: body), context: "user_login")
        #expect(error?.kind == .validation && error?.code == .validationInvalidInput && error?.message == "Mal")
        #expect(error?.violations.map(\.field) == ["email"] && error?.violations.first?.code == .validationInvalidEmail)
        #expect(error?.requestID == "r1" && error?.context == "user_login" && error?.recovery == .fixFields)
    }

    @Test("Measures a dated delay against the client's clock")
    func delay() async throws {
        let error = try await get(.response(status: 429, headers: [.retryAfter: "Tue, 04 Nov 2025 10:31:00 GMT"]))
        #expect(error?.retryAfter == .seconds(60))
        #expect(error?.isRetryable == true)
    }

    @Test(
        "A proxy's web page is an error of its status",
        arguments: [(502, APIError.Kind.server), (403, .forbidden), (404, .notFound)]
    )
    func page(status: Int, kind: APIError.Kind) async throws {
        let error = try await get(.response(status: status, body: "<html>secret</html>"))
        #expect(error?.kind == kind)
        #expect(error?.message == nil)
    }

    @Test(
        "The transport's error determines the kind",
        arguments: [
            (TransportError.Code.noInternet, APIError.Kind.noInternet, ErrorCode.noInternet),
            (.unreachable, .network, .networkError), (.connectionLost, .network, .networkError), (.timeout, .timeout, .timeout),
            (.cancelled, .cancelled, .cancelled), (.untrusted, .network, .networkError),
            (.invalidRequest, .invalidRequest, .invalidRequest), (.other, .network, .networkError),
        ]
    )
    func transport(code: TransportError.Code, kind: APIError.Kind, errorCode: ErrorCode) async throws {
        let step = ScriptedTransport.Step.failure(TransportError(code, message: "x", wasSent: false))
        for error in [try await get(step, context: "sync_data"), try await post(step)] {
            #expect(error?.kind == kind && error?.code == errorCode && error?.status == nil)
            #expect((error?.underlying as? TransportError)?.code == code)
            let isTransient = [APIError.Kind.network, .noInternet, .timeout].contains(kind)
            // The certificate will not be trusted on a retry either.
            #expect(error?.isRetryable == (isTransient && code != .untrusted))
            #expect(APIError(TransportError(code, message: "x", wasSent: true)).kind == kind, "caught by itself")
        }
        #expect(try await get(step, context: "sync_data")?.context == "sync_data")
    }

    @Test(
        "A POST that may have been sent has an unknown outcome, a lost GET does not",
        arguments: [TransportError.Code.connectionLost, .timeout, .other]
    )
    func unknownOutcome(code: TransportError.Code) async throws {
        let step = ScriptedTransport.Step.failure(TransportError(code, message: "x", wasSent: true))
        let posted = try await post(step)
        #expect(posted?.kind == .unknownOutcome && posted?.code == .unknownOutcome && posted?.isRetryable == false)
        let gotten = try await get(step)
        #expect(gotten?.kind == (code == .timeout ? .timeout : .network) && gotten?.isRetryable == true)
    }

    @Test(
        "Treats only the safe and idempotent methods as repeatable",
        arguments: [("GET", true), ("PUT", true), ("DELETE", true), ("PATCH", false)]
    )
    func methods(name: String, isSafe: Bool) async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.connectionLost, message: "x", wasSent: true))
        let client = try makeClient(ScriptedTransport([lost]))
        let method = try #require(HTTPRequest.Method(name))
        let error = await failure { _ = try await client.send(method, "/a") }
        #expect(error?.kind == (isSafe ? .network : .unknownOutcome))
    }

    @Test(
        "A canceled or never-built POST has a known outcome: not executed",
        arguments: [TransportError.Code.cancelled, .invalidRequest]
    )
    func notUnknown(code: TransportError.Code) async throws {
        let error = try await post(.failure(TransportError(code, message: "x", wasSent: true)))
        #expect(error?.kind != .unknownOutcome)
    }

    @Test("Detects a refusal or a foreign page in the unread body of a POST")
    func unread() async throws {
        #expect(try await post(.response(status: 204)) == nil)
        #expect(try await post(.response(status: 200, body: #"{"success":true,"data":{"anything":1}}"#)) == nil)
        #expect(try await post(.response(status: 200, body: "OK")) == nil)
        #expect(try await post(.response(status: 200, body: #"{"success":false,"error":"Nope"}"#))?.message == "Nope")
        #expect(try await post(.response(status: 200, body: "<html>log in"))?.kind == .notAPI)
        #expect(try await post(.response(status: 302))?.status == 302)
    }

    @Test(
        "A success that refuses is an error for callers of raw bytes, too",
        arguments: [
            (#"{"success":false,"error_code":429}"#, APIError.Kind.rateLimited),
            (#"{"ok":false,"error":"invalid_auth"}"#, .unauthorized),
            (#"{"valid":false,"error":"Nope"}"#, .badRequest), ("<html>log in", .notAPI),
            (#"{"data":null,"errors":[{"message":"m","extensions":{"code":"FORBIDDEN"}}]}"#, .forbidden),
        ]
    )
    func rawRefusal(body: String, kind: APIError.Kind) async throws {
        let client = try makeClient(ScriptedTransport([.response(status: 200, headers: [.requestID: "r1"], body: body)]))
        let error = await failure { _ = try await client.send(.delete, "/a", context: "delete_a") }
        #expect(error?.kind == kind && error?.context == "delete_a" && error?.requestID == "r1")
    }

    @Test("Reports an unexpected value with its coding path")
    func place() async throws {
        let response = ScriptedTransport.Step.response(status: 200, headers: [.requestID: "r1"], body: #"{"id":"x","name":"a"}"#)
        let error = try await get(response, context: "load")
        #expect(error?.kind == .decoding && error?.details["path"] == "id" && error?.details["problem"] == "type")
        #expect(
            error?.requestID == "r1" && error?.status == 200 && error?.context == "load" && error?.underlying is DecodingError
        )
    }

    private struct Expired: APIErrorConvertible {
        func apiError(context: String?) -> APIError { APIError(.unauthorized) }
    }

    @Test("Uses the kind that a middleware's convertible error declares")
    func convertible() async throws {
        let client = try makeClient(ScriptedTransport([]), middleware: [ClosureMiddleware { _, _, _ in throw Expired() }])
        let error = await failure { _ = try await client.send(.get, "/a", context: "c") }
        #expect(error?.kind == .unauthorized && error?.context == "c")
    }
}
