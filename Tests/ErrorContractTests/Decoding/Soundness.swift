import ErrorContract

/// The rules that every decoded error must satisfy, for any response.
enum Soundness {
    /// Returns a description of the first rule that an error violates, or `nil`.
    /// - Parameters:
    ///   - error: The decoded error.
    ///   - status: The HTTP status of the response.
    static func fault(in error: DecodedError, status: Int) -> String? {
        let claims = (200...299).contains(status) && (400...599).contains(error.status)
        let isLimitUnder400 = status == 400 && error.status == 429 && error.family == .graphQL
        if error.status != status, !claims, !isLimitUnder400 { return "status \(status) became \(error.status)" }
        if let delay = error.retryAfter, !(.zero...RetryAfter.longest).contains(delay) { return "a delay of \(delay)" }
        for name in [error.code?.rawValue, error.requestID] + error.violations.map({ $0.code?.rawValue }) {
            if let name, !isFitForLog(name) { return "a code or id that is not fit for a log" }
        }
        for text in [error.message ?? ""] + error.violations.map(\.message) {
            if text.utf8.count > longestText { return "a text of \(text.utf8.count) bytes" }
            if let insides = insides.first(where: text.contains) { return "a text with \(insides)" }
        }
        return nil
    }

    /// The longest text that may be shown to a user, in bytes.
    static let longestText = 2_048

    private static let insides = [
        "<html", "<!doctype", "<!DOCTYPE", "</", "<p>", "<script", "Traceback (", "SQLSTATE[", "\u{0}", "\u{1B}",
    ]

    private static func isFitForLog(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
