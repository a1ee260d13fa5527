import ErrorContract
import Foundation
import StrictJSON
import Testing

/// Expects of an answer what holds for every error: the headers, the delays, and that nothing internal is told.
func expectInvariants(
    of answer: RawHTTP.Answer,
    code: ErrorCode,
    form: ErrorForm,
    language: Language,
    _ place: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    func expect(_ condition: Bool) { #expect(condition, place, sourceLocation: sourceLocation) }
    expect(answer["X-Error-Code"] == code.rawValue)
    expect(answer["X-Request-Id"]?.isEmpty == false)
    expect(answer["Content-Type"] == form.contentType)
    expect(answer["Content-Language"] == language.rawValue)
    expect(answer["Cache-Control"] == "no-store")
    expect(answer["Vary"] == "Accept, Accept-Language")
    expect(answer.headerLines.count { $0.lowercased().hasPrefix("content-length:") } == 1)
    let wait = answer["Retry-After"].flatMap { Int($0) }
    let mayWait = [429, 503].contains(answer.status) || code == .requestConflict
    expect(wait == nil ? ![429, 503].contains(answer.status) : mayWait)
    if let wait, let json = try? answer.json() {
        let path: String? =
            switch form {
            case .standard: "error.details.retry_after"
            case .flat: "details.retry_after"
            case .problem: "retry_after"
            case .success, .detail: nil
            }
        if let path { expect(json[path] == .integer(Int64(wait))) }
    }
    let everything = answer.headerLines.joined(separator: "\n") + answer.text
    let internals = ["Swift", "swift", "SQLite", "GRDB", "NIO", "Codable", "Error(", "/Sources/", "/tmp/", "SELECT", "Exception"]
    for leak in internals + ScriptedHashing.Trouble.secrets { expect(!everything.contains(leak)) }
}
