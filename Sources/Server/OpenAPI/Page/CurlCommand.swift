import ErrorContract
import StrictJSON

/// A call of an operation as it is typed in a terminal.
struct CurlCommand: CustomStringConvertible {
    let operation: APIOperation
    /// Where the server is, such as `http://127.0.0.1:8080`.
    let address: String

    var description: String {
        var parts = ["curl " + quoted(address + path)]
        if operation.needsSession { parts.append("-H \"Authorization: Bearer $token\"") }
        if let request = operation.request {
            parts += request.isForm ? form(request.example) : ["--json " + quoted(JSONValue.object(request.example).indented(1))]
        }
        if parts.count == 2, parts.joined(separator: " ").count <= 76 { return parts.joined(separator: " ") }
        return parts.joined(separator: " \\\n  ")
    }

    private var path: String {
        let filled = operation.path.replacing("{id}", with: "000001795257000000-6f1e")
        let token = operation.parameters.first { $0.place == .query && $0.name == "token" }
        return token == nil ? filled : filled + "?token=\(AccountExamples.token)"
    }

    private func form(_ example: JSONObject) -> [String] {
        example.members.map { "--data-urlencode " + quoted("\($0)=\($1.stringValue ?? text($1))") }
    }

    private func text(_ value: JSONValue) -> String { String(decoding: value.encoded(), as: UTF8.self) }

    /// The text as one word of a POSIX shell.
    private func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/:.-_@,=".utf8.contains(byte)
            }
        }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
