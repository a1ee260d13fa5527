import ErrorContract
import StrictJSON

/// A header of an answer.
struct APIHeader: Sendable {
    let name: String
    let schema: Schema
    var isRequired = true
    let about: Prose

    /// The header in OpenAPI.
    var json: JSONValue {
        ["description": .string(about.markdown), "required": .bool(isRequired), "schema": schema.json]
    }
}

extension APIHeader {
    static let requestID = APIHeader(
        name: "X-Request-Id",
        schema: .text(TextRules(length: 1...64, pattern: "^[A-Za-z0-9._\\-]+$")),
        about:
            "The id by which the server's log knows the request: the request's own `X-Request-Id` if it is sane, else a new one."
    )

    static let retryAfter = APIHeader(
        name: "Retry-After",
        schema: .integer(0...Int(Int32.max)),
        about: "The seconds after which a repeat makes sense; the body says the same as `retry_after`."
    )

    static let authenticate = APIHeader(
        name: "WWW-Authenticate",
        schema: .text(TextRules(choices: ["Bearer"])),
        isRequired: false,
        about: "The scheme by which requests authenticate (RFC 6750)."
    )

    /// How the limits that count the request stand.
    static let rateLimits = [
        APIHeader(
            name: "RateLimit-Policy",
            schema: .text(TextRules(pattern: limitPattern)),
            isRequired: false,
            about: "The limits that count the request, such as `\"reset-email\";q=3;w=3600`: at most 3 requests in 3,600 seconds."
        ),
        APIHeader(
            name: "RateLimit",
            schema: .text(TextRules(pattern: limitPattern)),
            isRequired: false,
            about: "What is left under each, such as `\"reset-email\";r=2;t=1200`: 2 requests, and more after 1,200 seconds."
        ),
    ]

    /// A list of names in quotes with parameters (RFC 9651).
    private static let limitPattern = #"^"[^"]+"(;[a-z]+=[^;,]+)*(, "[^"]+"(;[a-z]+=[^;,]+)*)*$"#

    static func contentLanguage(_ languages: [Language]) -> APIHeader {
        APIHeader(
            name: "Content-Language",
            schema: .text(TextRules(choices: languages.map(\.rawValue))),
            about: "The language of the texts, chosen by `Accept-Language`."
        )
    }

    /// The header that names one of a few codes.
    /// - Parameter isRequired: Whether every answer with the status has it.
    static func errorCode(_ codes: [ErrorCode], isRequired: Bool = true) -> APIHeader {
        APIHeader(
            name: "X-Error-Code",
            schema: .text(TextRules(choices: codes.map(\.rawValue))),
            isRequired: isRequired,
            about: "The code, which survives an edge that replaces the body."
        )
    }
}
