import ErrorContract
package import StrictJSON

/// A response without an error code. Responses with error codes are derived from ``APIOperation/codes(_:)``.
///
/// Pages are an exception. If the errors of an operation are pages, each page is described with this type, because the text of the page
/// depends on the operation.
package struct DescribedResponse: Sendable {
    /// A body in one media type.
    package struct Content: Sendable {
        /// The media type without parameters, such as `application/json`. It is unique among the contents of a response.
        package let mediaType: String
        /// The schema of the body.
        package let schema: Schema
        /// An example that the schema accepts; `nil` for texts.
        package let example: JSONValue?

        /// Creates JSON content.
        /// - Parameters:
        ///   - schema: The schema of the body.
        ///   - example: An example that the schema accepts.
        static func json(_ schema: NamedSchema, example: JSONValue) -> Content {
            Content(mediaType: "application/json", schema: .named(schema), example: example)
        }

        /// Creates JSON content from a wire type, which is the Swift type that the server encodes. The initializer of ``NamedSchema``
        /// derives the schema by decoding the example. All members are required, because Holdfast sends every member of a response.
        /// - Parameters:
        ///   - type: The type that the server encodes. It must also be decodable.
        ///   - example: An example with all members.
        /// - Precondition: The type can be decoded from the example.
        static func json(_ type: (some Decodable).Type, example: JSONValue) -> Content {
            json(NamedSchema(recording: type, example: example, optional: .required), example: example)
        }

        /// An HTML page.
        static let page = Content(mediaType: "text/html", schema: .text(), example: nil)
    }

    /// A link to an operation whose request can contain members of this response. Generators and test tools use links to call operations in
    /// sequence (OpenAPI 3.1 §4.8.20).
    struct Link: Sendable {
        /// The name of the link, unique in its response.
        let name: String
        /// The `id` of the next operation.
        let operationID: String
        /// Members of the next request, as runtime expressions (OpenAPI 3.1 §4.8.20.4), such as `$response.body#/refresh_token`.
        let request: JSONObject
        /// The description of the next operation for callers.
        let about: String
    }

    /// The HTTP status, unique among the responses of an operation.
    package let status: Int
    /// The meaning of the response.
    package let about: Prose
    /// The possible bodies, at most one for each media type. There are several bodies if the client can choose one with `Accept`. The array
    /// is empty if the response has no body.
    package let contents: [Content]
    /// The headers of this response, without the headers that all responses have.
    let headers: [APIHeader]
    /// The operations that a client can call next.
    let links: [Link]
    /// Whether the body is in the user's language. If so, `Content-Language` contains this language. All pages and all messages to users
    /// are localized.
    let isLocalized: Bool

    /// Creates a response.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - about: The description for callers.
    ///   - contents: The possible bodies. If the array is empty, the response has no body.
    ///   - headers: The headers of this response, without the headers that all responses have.
    ///   - links: The operations that a client can call next.
    ///   - isLocalized: Whether the body is in the user's language. If so, the response has the header `Content-Language`.
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

    /// Creates the description of a page in the user's language.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - about: The description of the page's content.
    ///   - headers: The headers of this response, without the headers that all responses have.
    static func page(_ status: Int, _ about: Prose, headers: [APIHeader] = []) -> DescribedResponse {
        DescribedResponse(status, about, .page, headers: headers, isLocalized: true)
    }
}

/// A header of a response.
struct APIHeader: Sendable {
    /// The name of the header.
    let name: String
    /// The schema of its value.
    let schema: Schema
    /// Whether every response with the status has the header. Clients can rely on a required header.
    var isRequired = true
    /// The meaning of the header for callers.
    let about: Prose

    /// The header in OpenAPI.
    var json: JSONValue {
        ["description": .string(about.markdown), "required": .bool(isRequired), "schema": schema.json]
    }
}

extension APIHeader {
    /// The id of the request.
    static let requestID = APIHeader(
        name: "X-Request-Id",
        schema: .text(TextRules(length: 1...64, pattern: "^[A-Za-z0-9._\\-]+$")),
        about:
            "The id of the request in the server's log: the request's `X-Request-Id` if it is valid, otherwise a new one."
    )

    /// The delay in seconds before a retry can succeed (RFC 9110 §10.2.3).
    static let retryAfter = APIHeader(
        name: "Retry-After",
        schema: .integer(0...Int(Int32.max)),
        about: "The delay in seconds before the client may repeat the request. The body contains it as `retry_after`."
    )

    /// The scheme of authentication (RFC 6750 §3). Responses with status 401 have this header.
    static let authenticate = APIHeader(
        name: "WWW-Authenticate",
        schema: .text(TextRules(choices: ["Bearer"])),
        isRequired: false,
        about: "The scheme by which requests authenticate (RFC 6750)."
    )

    /// The two headers that report the policies and the remaining quotas of the limits that count the request.
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
            about: "The remaining quotas, such as `\"reset-email\";r=2;t=1200`: 2 requests, and more after 1,200 seconds."
        ),
    ]

    /// A list of names in quotes with parameters, such as `"reset-email";q=3;w=3600` (RFC 9651).
    private static let limitPattern = #"^"[^"]+"(;[a-z]+=[^;,]+)*(, "[^"]+"(;[a-z]+=[^;,]+)*)*$"#

    /// Returns the header with the language of the texts.
    /// - Parameter languages: The languages of the server, which become the only valid values.
    static func contentLanguage(_ languages: [Language]) -> APIHeader {
        APIHeader(
            name: "Content-Language",
            schema: .text(TextRules(choices: languages.map(\.rawValue))),
            about: "The language of the texts, which `Accept-Language` selects."
        )
    }

    /// Returns the header `X-Error-Code`.
    /// - Parameters:
    ///   - codes: The possible values.
    ///   - isRequired: Whether every response with the status has the header. It is `false` if the status also occurs without an error.
    static func errorCode(_ codes: [ErrorCode], isRequired: Bool = true) -> APIHeader {
        APIHeader(
            name: "X-Error-Code",
            schema: .text(TextRules(choices: codes.map(\.rawValue))),
            isRequired: isRequired,
            about: "The code. It is readable even if a proxy replaces the body."
        )
    }
}
