import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import Hummingbird
import ServerMiddleware
import StrictJSON
import Timekeeping

/// The route that explains how the client library reads a response of any server, and how it reacts. The route uses the decoder of the
/// client library, so the explanation always matches the behavior.
struct ReadRoute<Context: ErrorLabRequestContext>: Sendable {
    /// A response that a client received.
    private struct Received: Decodable {
        let status: Int
        let headers: [String: String]?
        let body: String?
        /// The body in base64, if it is not text.
        let bodyBase64: String?

        enum CodingKeys: String, CodingKey {
            case status, headers, body
            case bodyBase64 = "body_base64"
        }

        /// The bytes of the body; `nil` for invalid base64. The array is empty if there is no body.
        var bytes: [UInt8]? {
            guard let bodyBase64 else { return Array((body ?? "").utf8) }
            return Data(base64Encoded: bodyBase64).map { [UInt8]($0) }
        }
    }

    /// The codes that a client knows.
    let catalogue: ErrorCatalogue
    /// The languages of the texts for users.
    let localization: Localization
    /// The wall clock, which converts a date in `Retry-After` to a delay.
    let now: @Sendable () -> Date

    /// Reads a response from the body of the request, at most 256 KB, and returns its explanation.
    /// - Throws: ``ContractError`` for an invalid status or invalid base64.
    @Sendable func read(_ request: Request, _ context: Context) async throws -> Response {
        try LabQuery(request).finish()
        let received = try await RequestReader(maximumBodySize: 262_144).read(Received.self, from: request)
        guard (100...599).contains(received.status) else { throw Self.refused("status", "a whole number from 100 to 599") }
        guard let body = received.bytes else { throw Self.refused("body_base64", "base64 (RFC 4648 §4)") }
        var headers: HTTPFields = [:]
        for (name, value) in received.headers ?? [:] {
            // Skip invalid fields, because HTTP can't transfer them.
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
            headers[name] = value
        }
        guard let response = decoded(received.status, headers, body) else {
            return BufferedResponse.json(["outcome": "success"]).response
        }
        return BufferedResponse.json(reading(response, headers, in: localization.language(of: request))).response
    }

    /// Returns the error for an invalid member of the body.
    /// - Parameters:
    ///   - member: The name of the member.
    ///   - allowed: A description of the valid values.
    private static func refused(_ member: String, _ allowed: String) -> ContractError {
        ContractError(LabRefusal([.init(parameter: member, code: .validationInvalidFormat, allowed: allowed)]))
    }

    /// Decodes an error; `nil` for a success. A success with an error in its body counts as an error.
    private func decoded(_ status: Int, _ headers: HTTPFields, _ body: [UInt8]) -> DecodedError? {
        let decoder = ErrorDecoder()
        guard (200...299).contains(status) else {
            return decoder.decode(status: status, headers: headers, body: body, now: now())
        }
        return decoder.refusalInSuccess(status: status, headers: headers, body: body, now: now())
    }

    /// Returns the explanation as JSON: the error code, the reaction of the client, and the texts that the user sees.
    /// - Parameters:
    ///   - response: The decoded error.
    ///   - headers: The header fields of the response to explain.
    ///   - language: The language of the texts.
    private func reading(_ response: DecodedError, _ headers: HTTPFields, in language: Language) -> JSONValue {
        var error = APIError(response, catalogue: catalogue)
        // The header `Content-Language` contains the language of the server's text.
        error.headers = headers
        let shown = error.presentation(in: language, now: now(), catalogue: catalogue)
        var object: JSONObject = [
            "outcome": "failure", "kind": .string(error.kind.rawValue), "code": .string(error.code.rawValue),
            "status": .integer(Int64(response.status)), "family": .string(response.family.rawValue),
            "retry": .string(error.retry.rawValue), "recovery": .string(error.recovery.rawValue),
            "advice": .string(LabScenario.advice(for: error.retry, error.recovery)),
            "title": .string(shown.title), "text": .string(shown.message),
            "fields": .array(
                error.violations.map { ["field": .string($0.field), "message": .string($0.message)] }
            ),
        ]
        object["retry_after"] = error.retryAfter.map { .integer(Int64($0.wholeSecondsRoundedUp)) }
        object["request_id"] = error.requestID.map { .string($0) }
        object["message"] = error.message.map { .string($0) }
        object["primary"] = .string(shown.primaryLabel(in: language))
        object["secondary"] = shown.secondaryLabel(in: language).map { .string($0) }
        return .object(object)
    }
}
