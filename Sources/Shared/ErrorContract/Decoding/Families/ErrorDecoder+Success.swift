public import Foundation
public import HTTPTypes
import StrictJSON

/// Decodes failures that servers report with a successful status.
extension ErrorDecoder {
    /// Decodes a response with a successful status, and returns an error if its body reports a failure.
    ///
    /// These bodies report a failure:
    ///
    /// - `success:false`, and `valid:false` with an error.
    /// - Slack's `ok:false` with an error.
    /// - GraphQL's errors without data.
    /// - A page instead of JSON (``ErrorCode/notAPIResponse``), and an XML error of AWS.
    ///
    /// Any other body counts as a success, even if it can't be parsed. The caller decides whether the body has the expected content.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    ///   - body: The body. If it is larger than ``maximumBodySize``, the error contains no texts from the body.
    ///   - now: The local wall clock. The method evaluates it only if the body may report a failure.
    /// - Returns: The error; `nil` for a success.
    /// - Complexity: O(n) for n bytes. A body that reports no failure is scanned once and not decoded.
    public func refusalInSuccess(
        status: Int,
        headers: HTTPFields,
        body: some Collection<UInt8>,
        now: @autoclosure () -> Date
    ) -> DecodedError? {
        func inspect(_ bytes: UnsafeBufferPointer<UInt8>) -> DecodedError? {
            let text = UnsafeBufferPointer(rebasing: bytes.dropFirst(bytes.stands("\u{FEFF}", at: 0) ? 3 : 0))
            return refusal(status: status, headers: headers, body: text, now: now())
        }
        return body.withContiguousStorageIfAvailable(inspect) ?? Array(body).withUnsafeBufferPointer(inspect)
    }

    /// Decodes the failure that a body without a byte order mark reports.
    private func refusal(
        status: Int,
        headers: HTTPFields,
        body: UnsafeBufferPointer<UInt8>,
        now: @autoclosure () -> Date
    ) -> DecodedError? {
        if body.beginAsMarkup {
            let error = decode(status: status, headers: headers, body: body, now: now())
            return error.family == .notAPI || error.family == .aws ? error : nil
        }
        guard let outline = try? Self.parser.outline(of: body, names: Self.verdicts) else { return nil }
        guard !outline.members.isEmpty else { return nil }
        let refuses = Self.refuses(outline)
        guard refuses || Self.mayBeGraphQL(outline) else { return nil }
        var error = decode(status: status, headers: headers, body: body, now: now())
        // If the body is too large to be decoded, the method still returns the failure.
        if refuses, error.family == .unreadable, body.count > Self.maximumBodySize { error.family = .success }
        return refuses && error.family != .unreadable || error.family == .graphQL ? error : nil
    }

    /// The members that may report a failure.
    private static let verdicts: JSONNames = ["success", "valid", "ok", "error", "errors", "data"]

    /// Returns whether the members of a body report a failure.
    private static func refuses(_ outline: JSONObject) -> Bool {
        let hasError = outline["error"]?.stringValue != nil
        return outline["success"] == false || hasError && (outline["valid"] == false || outline["ok"] == false)
    }

    /// Returns whether the body may be a GraphQL response that failed. A GraphQL response that also contains data is a partial success.
    private static func mayBeGraphQL(_ outline: JSONObject) -> Bool {
        outline["errors"]?.arrayValue != nil && (outline["data"] ?? .null) == .null
    }
}
