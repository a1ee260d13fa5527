public import Foundation
public import HTTPTypes

/// Reads an error answer of any of the contract's forms into one value.
///
/// The status is looked at before the body; the body counts as JSON if it parses, whatever its content type claims. Never
/// throws, never traps, never invents a delay: garbage means absent, and a body that means nothing is never shown.
public struct ErrorDecoder: Sendable {
    /// The largest body that is looked at, in bytes.
    public static let maximumBodySize = 65_536

    /// Creates a decoder.
    public init() {}

    /// Reads an answer.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    ///   - body: The body; bytes past ``maximumBodySize`` are not looked at.
    ///   - now: The local wall clock.
    public func decode(status: Int, headers: HTTPFields, body: some Collection<UInt8>, now: Date) -> DecodedError {
        var error = decodeBody(status: status, body: body.prefix(Self.maximumBodySize))
        if error.code == nil, let code = headers[.errorCode], Self.isCode(code) { error.code = ErrorCode(code) }
        if let id = headers[.requestID], Self.isCode(id) { error.requestID = id }
        error.retryAfter = RetryAfter.delay(in: headers, now: now) ?? Self.delay(inDetails: error.details)
        return error
    }

    private func decodeBody(status: Int, body: some Collection<UInt8>) -> DecodedError {
        guard !body.isEmpty else { return DecodedError(status: status, family: .empty) }
        guard let value = try? JSONParser(duplicates: .lastWins).parse(body) else { return DecodedError(status: status) }
        guard let object = value.objectValue else { return DecodedError(status: status, family: .otherJSON) }
        return Self.standard(object, status: status)
            ?? Self.success(object, status: status)
            ?? Self.flat(object, status: status)
            ?? Self.detail(object, status: status)
            ?? DecodedError(status: status, family: .otherJSON)
    }

    private static func delay(inDetails details: JSONObject) -> Duration? {
        guard let seconds = details["retry_after"]?.doubleValue, seconds >= 0 else { return nil }
        return min(.seconds(min(seconds.rounded(.up), 1e15)), RetryAfter.longest)
    }

    /// Whether a text is fit to be a code or an id: short, printable and without spaces, so that it can stand in a log.
    static func isCode(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
