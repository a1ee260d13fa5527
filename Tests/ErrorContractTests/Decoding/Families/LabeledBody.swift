import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

/// A response that was written from a server's documentation or captured from a server, with the facts that must be read from it.
struct LabeledBody: Sendable, CustomTestStringConvertible {
    /// The row in the table of families; 0 for none.
    var row: Int
    var label: String
    /// The server that it was captured from; `nil` if it was written from documentation.
    var source: String?
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

    /// The bodies of all files under `Resources/bodies`, at any depth: each file is a list, or has an entry per line.
    static let loaded = Result { try load() }
    /// The bodies; empty if a file can't be read, which a test reports.
    static let all = (try? loaded.get()) ?? []
    /// The bodies that are not large on purpose.
    static let small = all.filter { $0.body.count <= 16_384 }

    private static func load() throws -> [LabeledBody] {
        let folder = try #require(Bundle.module.url(forResource: "Resources/bodies", withExtension: nil))
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        return try paths.filter { $0.contains(".json") }.flatMap { path in
            let data = try Data(contentsOf: folder.appendingPathComponent(path))
            let list =
                try (try? JSONParser().parse(data))?.arrayValue
                ?? data.split(separator: UInt8(ascii: "\n")).map(JSONParser().parse)
            return try list.enumerated().map { index, entry in
                try LabeledBody(#require(entry.objectValue, "entry \(index + 1) of \(path)"))
            }
        }
    }

    private init(_ json: JSONObject) throws {
        row = json["row"]?.doubleValue.map { Int($0) } ?? 0
        label = try #require(json["label"]?.stringValue)
        source = json["source"]?.stringValue
        let status = try #require(json["status"]?.doubleValue.map { Int($0) })
        self.status = status
        headers = [:]
        for member in json["headers"]?.objectValue?.members ?? [] {
            let name = try #require(HTTPField.Name(member.key))
            let value: String = try #require(member.value.stringValue)
            headers[name] = value
        }
        body = try Self.bytes(of: json)
        let facts = try #require(json["expected"]?.objectValue)
        expected = ErrorDecoder().decode(status: status, headers: [:], body: [], now: Self.now)
        // Responses captured from real servers are labeled without their family, so the decoder's result counts.
        let family = facts["family"]?.stringValue ?? (source == nil ? nil : decoded.family.rawValue)
        expected.family = ErrorBodyFamily(rawValue: try #require(family))
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

    /// Returns the body of `text` (in which `PAD` is replaced by many repetitions), `hex`, or `json`.
    private static func bytes(of json: JSONObject) throws -> [UInt8] {
        if let text = json["text"]?.stringValue {
            guard let pad = json["pad"]?.objectValue else { return Array(text.utf8) }
            let part = try #require(pad["with"]?.stringValue)
            let count = Int(try #require(pad["count"]?.doubleValue))
            return Array(text.replacing("PAD", with: String(repeating: part, count: count)).utf8)
        }
        guard let hex = json["hex"]?.stringValue else { return try #require(json["json"]).encoded() }
        let digits = Array(hex)
        return try stride(from: 0, to: digits.count, by: 2).map { try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16)) }
    }
}
