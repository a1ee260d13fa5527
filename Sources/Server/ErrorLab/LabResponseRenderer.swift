import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import Hummingbird
import ServerMiddleware
import StrictJSON
import Timekeeping

/// A renderer for the responses of the lab. It uses the error renderer of the real routes, so that an app gets the same bodies as from a
/// real server.
struct LabResponseRenderer: Sendable {
    /// The renderer of real errors.
    let errors: ContractErrorRenderer
    /// Error responses of other servers and frameworks, by the names of their formats ("families").
    let families: [String: BufferedResponse]
    /// The wall clock, for dates in headers.
    let now: @Sendable () -> Date

    /// Returns a response with status 200 and a success of the lab as JSON.
    /// - Parameters:
    ///   - reply: The body.
    ///   - isWrapped: Whether the body is `{"success": true, "data": …}`, as some APIs send it.
    /// - Throws: `EncodingError`, which is a programming error.
    func success(_ reply: LabSuccess, isWrapped: Bool) throws -> BufferedResponse {
        let flat = try BufferedResponse.json(encoding: reply)
        return isWrapped ? .json(["success": true, "data": try JSONParser().parse(flat.body)]) : flat
    }

    /// Returns the response for an error code, as the real routes would send it.
    /// - Parameters:
    ///   - code: The code.
    ///   - form: The format; `nil` for the format that the request prefers.
    ///   - delay: The delay in the header and the body; `nil` for the default of the code.
    ///   - language: The language of the text; `nil` for the language that the request prefers.
    ///   - request: The request, for its headers.
    ///   - requestID: The id in the body and the header.
    func error(
        _ code: ErrorCode,
        form: ErrorForm?,
        delay: LabRetryAfter? = nil,
        language: Language? = nil,
        to request: Request,
        requestID: String
    ) async throws -> BufferedResponse {
        var error = ContractError(
            code,
            problems: LabProblem.of(code).map { .init(path: FieldPath($0.path.map { .member($0) }), code: $0.code) }
        )
        switch delay {
        case .seconds(let seconds): error.retryAfter = .seconds(seconds)
        case .date(let seconds): error.retryAfter = .seconds(max(0, seconds))
        case .absent, .raw, nil: break
        }
        var head = request.head
        if let form {
            error.form = form
            // The requested format of the lab takes precedence over the client's `Accept`.
            head.headerFields[.accept] = nil
        }
        if let language { head.headerFields[.acceptLanguage] = language.rawValue }
        let asked = Request(head: head, body: request.body)
        var response = try await BufferedResponse(errors.response(for: error, to: asked, requestID: requestID))
        switch delay {
        case .absent, .raw: response.removeDelay()
        case .seconds, .date, nil: break
        }
        return response
    }

    /// Sets the header `Retry-After` of a response to a number of seconds, to a date relative to the wall clock, or to any text. For
    /// `absent`, removes the header. The body doesn't change.
    func name(_ delay: LabRetryAfter, in response: inout BufferedResponse) {
        switch delay {
        case .seconds(let seconds): response.headers[.retryAfter] = "\(seconds)"
        case .date(let seconds): response.headers[.retryAfter] = HTTPDate.text(now().addingTimeInterval(Double(seconds)))
        case .absent: response.headers[.retryAfter] = nil
        case .raw(let text): response.headers[.retryAfter] = text
        }
    }
}

extension BufferedResponse {
    /// Removes the delay from the head and the body.
    fileprivate mutating func removeDelay() {
        headers[.retryAfter] = nil
        if let value = try? JSONParser().parse(body) { body = value.without("retry_after").encoded() }
    }
}

extension JSONValue {
    /// Returns a copy without the members that have a given name, at any depth.
    fileprivate func without(_ name: String) -> JSONValue {
        switch self {
        case .object(let object):
            .object(JSONObject(object.members.filter { $0.key != name }.map { ($0.key, $0.value.without(name)) }))
        case .array(let elements): .array(elements.map { $0.without(name) })
        default: self
        }
    }
}

/// Error responses of other servers: one response for each format that the decoder knows.
enum ForeignErrorBodies {
    /// An error for a damaged built-in table.
    struct Unreadable: Error {}

    /// Returns the responses by the names of their families.
    /// - Throws: ``Unreadable`` if the built-in table is damaged.
    static func load() throws -> [String: BufferedResponse] {
        guard let rows = try JSONParser().parse(PackageResources.families_json).arrayValue else { throw Unreadable() }
        var responses: [String: BufferedResponse] = [:]
        for row in rows {
            guard let row = row.objectValue, let name = row["family"]?.stringValue, let status = row["status"]?.doubleValue else {
                throw Unreadable()
            }
            responses[name] = try response(row, status: Int(status))
        }
        return responses
    }

    /// Reads a row of the table: a family, a status, and a body as `text` or `json`, with optional `headers`.
    /// - Throws: ``Unreadable`` if the row has no body or an invalid header field.
    private static func response(_ row: JSONObject, status: Int) throws -> BufferedResponse {
        var headers: HTTPFields = [:]
        let body: [UInt8]
        if let text = row["text"]?.stringValue {
            body = Array(text.utf8)
            if !body.isEmpty { headers[.contentType] = text.hasPrefix("<") ? "text/html" : "text/plain" }
        } else if let value = row["json"] {
            body = value.encoded()
            headers[.contentType] = "application/json"
        } else {
            throw Unreadable()
        }
        for member in row["headers"]?.objectValue?.members ?? [] {
            guard let name = HTTPField.Name(member.key), let value = member.value.stringValue else { throw Unreadable() }
            headers[name] = value
        }
        return BufferedResponse(status: status, headers: headers, body: body)
    }
}
