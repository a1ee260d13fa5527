import ErrorContract
package import StrictJSON

/// A response that is not an error of the contract.
package struct DescribedResponse: Sendable {
    /// A body.
    package struct Content: Sendable {
        package let mediaType: String
        package let schema: Schema
        package let example: JSONValue?

        static func json(_ schema: NamedSchema, example: JSONValue) -> Content {
            Content(mediaType: "application/json", schema: .named(schema), example: example)
        }

        /// Creates JSON content from a wire type.
        static func json(_ type: (some Decodable).Type, example: JSONValue) -> Content {
            json(NamedSchema(recording: type, example: example, optional: .required), example: example)
        }

        static let page = Content(mediaType: "text/html", schema: .text(), example: nil)
    }

    /// An operation that can follow, with members of this response in its request.
    struct Link: Sendable {
        let name: String
        let operationID: String
        /// Members of the next request, as runtime expressions (OpenAPI 3.1 §4.8.20.4).
        let request: JSONObject
        let about: String
    }

    package let status: Int
    package let about: Prose
    package let contents: [Content]
    let headers: [APIHeader]
    let links: [Link]
    /// Whether the body is in the user's language, which `Content-Language` names.
    let isLocalized: Bool

    init(
        _ status: Int,
        _ about: Prose,
        _ contents: Content...,
        headers: [APIHeader] = [],
        links: [Link] = [],
        isLocalized: Bool = false
    ) {
        self.status = status
        self.about = about
        self.contents = contents
        self.headers = headers
        self.links = links
        self.isLocalized = isLocalized
    }

    /// Creates a page in the user's language.
    static func page(_ status: Int, _ about: Prose, headers: [APIHeader] = []) -> DescribedResponse {
        DescribedResponse(status, about, .page, headers: headers, isLocalized: true)
    }
}

/// A header of a response.
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

    /// The state of the limits that count the request.
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

    /// Returns the header with an error code.
    /// - Parameter isRequired: Whether every response with the status has it.
    static func errorCode(_ codes: [ErrorCode], isRequired: Bool = true) -> APIHeader {
        APIHeader(
            name: "X-Error-Code",
            schema: .text(TextRules(choices: codes.map(\.rawValue))),
            isRequired: isRequired,
            about: "The code, which survives an edge that replaces the body."
        )
    }
}
