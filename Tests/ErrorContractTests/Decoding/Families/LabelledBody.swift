import ErrorContract
import Foundation
import HTTPTypes
import Testing

/// An answer written from the documented shape of some server, and what must be read from it.
struct LabelledBody: Sendable, CustomTestStringConvertible {
    /// The row of the table of families.
    var row: Int
    var label: String
    var status: Int
    var headers: HTTPFields
    var body: [UInt8]
    var expected: DecodedError

    var testDescription: String { "\(row) \(label)" }

    /// 2025-11-04T10:30:00Z
    static let now = Date(timeIntervalSince1970: 1_762_252_200)

    var decoded: DecodedError {
        ErrorDecoder().decode(status: status, headers: headers, body: body, now: Self.now)
    }

    /// The bodies of all groups under `Resources/bodies`.
    static let all: [LabelledBody] = {
        let groups = ["contract", "problem", "error-object", "lists", "frameworks", "platforms", "pages"]
        return groups.flatMap { (try? load($0)) ?? [] }
    }()

    private static func load(_ group: String) throws -> [LabelledBody] {
        let url = try #require(Bundle.module.url(forResource: "Resources/bodies/\(group)", withExtension: "json"))
        let list = try #require(try JSONParser().parse(Data(contentsOf: url)).arrayValue)
        return try list.map { try LabelledBody(#require($0.objectValue)) }
    }

    private init(_ json: JSONObject) throws {
        row = try #require(json["row"]?.doubleValue.map { Int($0) })
        label = try #require(json["label"]?.stringValue)
        let status = try #require(json["status"]?.doubleValue.map { Int($0) })
        self.status = status
        headers = [:]
        for member in json["headers"]?.objectValue?.members ?? [] {
            let name = try #require(HTTPField.Name(member.key))
            let value: String = try #require(member.value.stringValue)
            headers[name] = value
        }
        if let text = json["text"]?.stringValue {
            body = Array(text.utf8)
        } else if let hex = json["hex"]?.stringValue {
            let digits = Array(hex)
            body = try stride(from: 0, to: digits.count, by: 2).map {
                try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
            }
        } else {
            body = try #require(json["json"]).encoded()
        }
        let facts = try #require(json["expected"]?.objectValue)
        expected = ErrorDecoder().decode(status: status, headers: [:], body: [], now: Self.now)
        expected.family = ErrorBodyFamily(rawValue: try #require(facts["family"]?.stringValue))
        expected.status = facts["status"]?.doubleValue.map { Int($0) } ?? status
        expected.code = facts["code"]?.stringValue.map { ErrorCode($0) }
        expected.message = facts["message"]?.stringValue
        expected.retryAfter = facts["retryAfter"]?.doubleValue.map { .seconds($0) }
        expected.requestID = facts["requestID"]?.stringValue
        expected.violations = try (facts["violations"]?.arrayValue ?? []).map { value in
            let item = try #require(value.objectValue)
            return FieldViolation(
                field: try #require(item["field"]?.stringValue),
                pointer: item["pointer"]?.stringValue,
                code: item["code"]?.stringValue.map { ErrorCode($0) },
                message: try #require(item["message"]?.stringValue)
            )
        }
    }
}
