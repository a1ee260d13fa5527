import ErrorContract
import Foundation
import StrictJSON
import Testing

/// Expects the properties of every error response: its headers, its delays, and that it reveals nothing internal.
func expectInvariants(
    of response: RawHTTP.Answer,
    code: ErrorCode,
    form: ErrorForm,
    language: Language,
    _ place: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    func expect(_ condition: Bool) { #expect(condition, place, sourceLocation: sourceLocation) }
    expect(response["X-Error-Code"] == code.rawValue)
    expect(response["X-Request-Id"]?.isEmpty == false)
    expect(response["Content-Type"] == form.contentType)
    expect(response["Content-Language"] == language.rawValue)
    expect(response["Cache-Control"] == "no-store")
    expect(response["Vary"] == "Accept, Accept-Language")
    expect(response.headerLines.count { $0.lowercased().hasPrefix("content-length:") } == 1)
    let wait = response["Retry-After"].flatMap { Int($0) }
    let mayWait = [429, 503].contains(response.status) || code == .requestConflict
    expect(wait == nil ? ![429, 503].contains(response.status) : mayWait)
    if let wait, let json = try? response.json() {
        let path: String? =
            switch form {
            case .standard: "error.details.retry_after"
            case .flat: "details.retry_after"
            case .problem: "retry_after"
            case .success, .detail: nil
            }
        if let path { expect(json[path] == .integer(Int64(wait))) }
    }
    let everything = response.headerLines.joined(separator: "\n") + response.text
    let internals = ["Swift", "swift", "SQLite", "GRDB", "NIO", "Codable", "Error(", "/Sources/", "/tmp/", "SELECT", "Exception"]
    for leak in internals + ScriptedHashing.Trouble.secrets { expect(!everything.contains(leak)) }
}
