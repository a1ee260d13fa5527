import ErrorContract
import StrictJSON

/// The schemas of error bodies, one for each format.
///
/// The schemas of requests and of other responses are derived from the Swift types that the server decodes and encodes. Error bodies have
/// no such type, because `ErrorForm` encodes them. Their schemas are therefore written by hand. Tests validate the examples of all codes
/// against these schemas.
enum ErrorSchemas {
    /// The schemas of all formats, without the schemas that they refer to.
    static let all = [standard, flat, success, detail, problem]

    /// Returns the schema of a format's bodies. An unknown format gets the schema of the standard format.
    static func schema(of form: ErrorForm) -> NamedSchema {
        // The code compares names instead of cases, so that a new format can have a schema before `ErrorForm` has a case for the format.
        switch form.rawValue {
        case "flat": flat
        case "success": success
        case "detail": detail
        case "problem": problem
        default: standard
        }
    }

    /// An error code. The schema is a pattern rather than an enumeration, so that generated clients accept the codes of later versions.
    static let code = NamedSchema(
        "ErrorCode",
        .text(
            TextRules(pattern: "^[A-Z][A-Z0-9_]*$"),
            "A code of the catalogue. Later versions may add codes. Handle an unknown code by its prefix, then by the status."
        )
    )

    /// A problem with a field, in the format `standard`.
    static let violation = NamedSchema(
        "FieldViolation",
        .object(
            Field("field", .text(), .required, "The name of the field, such as `email`; empty for the whole body."),
            Field(
                "pointer",
                .text(),
                .optional,
                "The position of the field as a JSON Pointer in a URI fragment (RFC 6901 §6), such as `#/email`."
            ),
            Field("code", .named(code), .optional),
            Field("message", message),
            meaning: "One problem with one field of the request."
        )
    )

    /// The default format. The member `error` contains all other members:
    /// `{"error":{"code":"…","message":"…","details":{…},"timestamp":"…","request_id":"…"}}`
    static let standard = NamedSchema(
        "Error",
        .object(
            Field("error", .object(Field("code", .named(code)), Field("message", message), details, timestamp, requestID)),
            meaning: "An error in the form `standard`."
        )
    )

    /// The format with the members of `standard` at the top level. `details.field_errors` contains the texts of field problems by field,
    /// without their codes.
    static let flat = NamedSchema(
        "FlatError",
        .object(
            Field("code", .named(code)),
            Field("message", message),
            Field(
                "details",
                .object(
                    retryAfter,
                    Field("field_errors", .map(of: .list(of: message)), .optional, "The texts of all problems, by field."),
                    reasons,
                    check,
                    resetPassword
                ),
                .required,
                "Details of the error."
            ),
            timestamp,
            requestID,
            meaning: "An error in the form `flat`."
        )
    )

    /// The format `success`: `{"success":false,"error_code":429,"errors":[{"field":"…","message":"…"}]}`. Apps that are already installed
    /// decode this format. The code is only in the header `X-Error-Code`.
    static let success = NamedSchema(
        "SuccessError",
        .object(
            Field("success", .constant(false)),
            Field("error_code", status),
            Field(
                "errors",
                .list(
                    of: .object(
                        Field("field", .text(), .required, "The field, `rate_limit` for a refusal by a limit, or empty."),
                        Field("message", message)
                    ),
                    atLeast: 1
                )
            ),
            Field("message", message, .optional, "The text of the error, if it has problems with fields."),
            meaning: "An error in the form `success`."
        )
    )

    /// The format with one text: `{"detail":"…"}`. Only the headers contain the code and the request id.
    static let detail = NamedSchema(
        "DetailError",
        .object(Field("detail", message), meaning: "An error in the form `detail`.")
    )

    /// A problem with a field, in problem details. Its members have the names of the example in RFC 9457 §3, plus `code` and `field`.
    static let problemItem = NamedSchema(
        "ProblemItem",
        .object(
            Field("pointer", .text(), .optional, "The position of the field as a JSON Pointer in a URI fragment (RFC 6901 §6)."),
            Field("detail", message),
            Field("code", .named(code), .optional),
            Field("field", .text(), .required, "The name of the field; empty for the whole body."),
            meaning: "One problem with one field of the request, in problem details."
        )
    )

    /// Problem details of RFC 9457, which each client can request with `Accept: application/problem+json`. All members after `instance` are
    /// extensions of Holdfast (RFC 9457 §3.2).
    static let problem = NamedSchema(
        "Problem",
        .object(
            Field("type", .text(TextRules(format: "uri-reference")), .required, "The page of the code."),
            Field("title", .text(), .required, "The meaning of the code, the same for each occurrence."),
            Field("status", status),
            Field("detail", message),
            Field("instance", .text(TextRules(format: "uri-reference")), .optional, "The identifier of this occurrence."),
            Field("code", .named(code)),
            timestamp,
            requestID,
            retryAfter,
            Field("errors", .list(of: .named(problemItem)), .optional, "All problems with the input."),
            reasons,
            check,
            resetPassword,
            meaning: "An error as problem details (RFC 9457), for `Accept: application/problem+json`."
        )
    )

    /// The text of an error for the user.
    private static let message = Schema.text(TextRules(), "The text for the user, in the language of the response.")
    /// The status in the body. It is the same as the status of the response.
    private static let status = Schema.integer(400...599, "The HTTP status.")
    /// The time of the error, in RFC 3339.
    private static let timestamp = Field("timestamp", .text(TextRules(format: "date-time")), .required, "The time of the error.")
    /// The id of the request in the server's log.
    private static let requestID = Field("request_id", .text(), .required, "The same as `X-Request-Id`.")
    /// The delay before a retry, in seconds. It has the same range as `Retry-After`.
    private static let retryAfter = Field(
        "retry_after",
        .integer(0...Int(Int32.max)),
        .optional,
        "The delay in seconds before the client may repeat the request; always present with 429 and 503."
    )
    /// The machine-readable reasons of `AUTH_WEAK_PASSWORD`.
    private static let reasons = Field("reasons", .list(of: .text()), .optional, "The reasons why a password is too weak.")
    /// The name of the check that failed. Only responses of the readiness check have it.
    private static let check = Field("check", .text(), .optional, "The name of the failed readiness check.")
    /// The details of the standard form.
    private static let details = Field(
        "details",
        .object(
            retryAfter,
            Field("validation_errors", .list(of: .named(violation), atLeast: 1), .optional, "All problems with the input."),
            reasons,
            check,
            resetPassword
        ),
        .required,
        "Details of the error."
    )
    /// The member `reset_password`. Only responses to refused sign-ins have it.
    private static let resetPassword = Field(
        "reset_password",
        .constant(true),
        .optional,
        "Too many sign-ins failed. A device that confirms a password reset can sign in before the delay ends."
    )
}
