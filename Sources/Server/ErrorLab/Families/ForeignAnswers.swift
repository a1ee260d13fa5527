import ErrorContract
import HTTPTypes
import StrictJSON

/// The error answers of other servers, one of each shape that the decoder knows.
enum ForeignAnswers {
    /// The table can't be read.
    struct Unreadable: Error {}

    /// The answers by the names of their families.
    /// - Throws: ``Unreadable`` if the table that was built in is damaged.
    static func load() throws -> [String: PlainAnswer] {
        guard let rows = try JSONParser().parse(PackageResources.families_json).arrayValue else { throw Unreadable() }
        var answers: [String: PlainAnswer] = [:]
        for row in rows {
            guard let row = row.objectValue, let name = row["family"]?.stringValue, let status = row["status"]?.doubleValue else {
                throw Unreadable()
            }
            answers[name] = try answer(row, status: Int(status))
        }
        return answers
    }

    private static func answer(_ row: JSONObject, status: Int) throws -> PlainAnswer {
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
        return PlainAnswer(status: status, headers: headers, body: body)
    }
}
