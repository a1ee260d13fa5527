import ErrorContract
import Foundation
import Testing

@Suite struct ErrorCodeTests {
    @Test(
        "An unknown code survives a round trip",
        arguments: ["RATE_LIMIT_EXCEEDED", "FUTURE_CODE", "", "ñ x"]
    )
    func roundTrip(text: String) throws {
        let data = try JSONEncoder().encode([ErrorCode(text)])
        #expect(try JSONDecoder().decode([String].self, from: data) == [text])
        #expect(try JSONDecoder().decode([ErrorCode].self, from: data) == [ErrorCode(text)])
    }

    @Test("The description of a code is its wire form")
    func description() {
        #expect("\(ErrorCode.authTokenExpired)" == "AUTH_TOKEN_EXPIRED")
        #expect(ErrorCode(rawValue: "AUTH_TOKEN_EXPIRED") == .authTokenExpired)
    }

    @Test("Refuses a value that is not a text as a code", arguments: ["[1]", "[null]", "[{}]"])
    func refused(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ErrorCode].self, from: Data(json.utf8)) }
    }

    @Test("A local code for a failing server contains the status")
    func serverError() {
        #expect(ErrorCode.serverError(502).rawValue == "SERVER_ERROR_502")
    }

    @Test(
        "The local codes are those of the contract",
        arguments: [
            (ErrorCode.networkError, "NETWORK_ERROR"), (.unauthorized, "UNAUTHORIZED"), (.badRequest, "BAD_REQUEST"),
            (.notFound, "NOT_FOUND"), (.decodingError, "DECODING_ERROR"), (.validationError, "VALIDATION_ERROR"),
            (.rateLimited, "RATE_LIMITED"), (.throttled, "THROTTLED"),
            (.serviceUnavailableLocally, "SERVICE_UNAVAILABLE_LOCALLY"), (.timeout, "TIMEOUT"), (.noInternet, "NO_INTERNET"),
            (.cancelled, "CANCELLED"), (.unknownOutcome, "UNKNOWN_OUTCOME"), (.forbidden, "FORBIDDEN"), (.conflict, "CONFLICT"),
            (.notAPIResponse, "NOT_API_RESPONSE"), (.invalidRequest, "INVALID_REQUEST"), (.unknown, "UNKNOWN"),
        ]
    )
    func local(code: ErrorCode, text: String) {
        #expect(code.rawValue == text)
        #expect(ErrorCatalogue.standard[code] == nil, "a local code is never one of the server's")
    }
}
