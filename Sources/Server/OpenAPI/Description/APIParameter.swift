import ErrorContract
import StrictJSON

/// A value of the request that stands in its path, its query, its headers or a cookie. None but those in the path is required.
struct APIParameter: Sendable {
    enum Place: String, Sendable {
        case path, query, header, cookie
    }

    let name: String
    let place: Place
    let schema: Schema
    let about: Prose

    /// The parameter in OpenAPI.
    var json: JSONValue {
        [
            "name": .string(name), "in": .string(place.rawValue), "required": .bool(place == .path),
            "description": .string(about.markdown), "schema": schema.json,
        ]
    }
}

extension APIParameter {
    /// The parameters that every operation understands, told once.
    static let common = [acceptLanguage, requestID]

    static let idempotencyKey = APIParameter(
        name: "Idempotency-Key",
        place: .header,
        schema: .text(
            TextRules(
                length: 1...512,
                pattern: #"^("([ !#-\[\]-~]|\\["\\]){1,255}"|[!#-+\--:<-\[\]-~]{1,255})$"#
            )
        ),
        about: """
            A name that the client makes up for the request, with or without quotes, at most 255 characters. A repetition with it is \
            not done again: it gets the first answer, with `Idempotency-Replayed: true`, for a day.
            """
    )

    static let acceptLanguage = APIParameter(
        name: "Accept-Language",
        place: .header,
        schema: .text(),
        about: "The languages that the reader understands (RFC 9110 §12.5.4); texts come in the best of them."
    )

    static let requestID = APIParameter(
        name: "X-Request-Id",
        place: .header,
        schema: .text(),
        about: "An id for the request: 1–64 letters, digits, `.`, `_` and `-`. Anything else is replaced by a new id."
    )
}
