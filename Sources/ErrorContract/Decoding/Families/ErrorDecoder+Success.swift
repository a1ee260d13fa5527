public import Foundation
public import HTTPTypes

/// Failures under a successful status.
extension ErrorDecoder {
    /// Reads an answer whose status says success, and returns an error if its body says that it is none.
    ///
    /// That is `success:false`, `valid:false` with an error, Slack's `ok:false` with an error, GraphQL's errors without
    /// data, and a page where JSON was expected (``ErrorCode/notAPIResponse``). Any other body is a success, one that
    /// cannot be read included: whether it is what was asked for is not decided here.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - headers: The response's headers.
    ///   - body: The body; bytes past ``maximumBodySize`` are not looked at.
    ///   - now: The local wall clock.
    public func refusalInSuccess(
        status: Int,
        headers: HTTPFields,
        body: some Collection<UInt8>,
        now: Date
    ) -> DecodedError? {
        guard let first = body.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return nil }
        if first == UInt8(ascii: "<") {
            let error = decode(status: status, headers: headers, body: body, now: now)
            return error.family == .notAPI || error.family == .aws ? error : nil
        }
        guard first == UInt8(ascii: "{"), body.count <= Self.maximumBodySize,
            let object = try? JSONParser(duplicates: .lastWins).parse(body).objectValue,
            Self.refuses(object)
        else { return nil }
        return decode(status: status, headers: headers, body: body, now: now)
    }

    private static func refuses(_ object: JSONObject) -> Bool {
        let hasError = object["error"]?.stringValue != nil
        if object["success"] == false || hasError && (object["valid"] == false || object["ok"] == false) { return true }
        // With data beside the errors the answer is partial, not refused.
        guard (object["data"] ?? .null) == .null else { return false }
        return ErrorBody(status: 200, headers: [:], object: object).graphQL() != nil
    }
}
