public import Foundation
public import HTTPTypes
import StrictJSON

/// Failures under a successful status.
extension ErrorDecoder {
    /// Reads an answer whose status says success, and returns an error if its body says that it is none: the one place where
    /// this is decided.
    ///
    /// That is `success:false`, `valid:false` with an error, Slack's `ok:false` with an error, GraphQL's errors without
    /// data, and a page where JSON was expected (``ErrorCode/notAPIResponse``). Any other body is a success, one that
    /// cannot be read included: whether it is what was asked for is not decided here.
    ///
    /// A plain success is passed over once and not read: O(n) in bytes.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    ///   - body: The body; of a refusal, texts past ``maximumBodySize`` are not read.
    ///   - now: The local wall clock; read only if the body may refuse.
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
        let refuses = Self.refuses(outline)
        guard refuses || Self.mayBeGraphQL(outline) else { return nil }
        var error = decode(status: status, headers: headers, body: body, now: now())
        // What is too large to be read says no all the same.
        if refuses, error.family == .unreadable, body.count > Self.maximumBodySize { error.family = .success }
        return refuses && error.family != .unreadable || error.family == .graphQL ? error : nil
    }

    /// The members that say whether an answer refuses.
    private static let verdicts: Set<String> = ["success", "valid", "ok", "error", "errors", "data"]

    private static func refuses(_ outline: JSONObject) -> Bool {
        let hasError = outline["error"]?.stringValue != nil
        return outline["success"] == false || hasError && (outline["valid"] == false || outline["ok"] == false)
    }

    /// With data beside the errors the answer is partial, not refused.
    private static func mayBeGraphQL(_ outline: JSONObject) -> Bool {
        outline["errors"]?.arrayValue != nil && (outline["data"] ?? .null) == .null
    }
}
