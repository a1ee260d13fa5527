import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

/// A response and the delay that it names: a line of `Resources/retry-after.jsonl`.
struct RetryAfterCase: Sendable, CustomTestStringConvertible {
    /// The subject of the case, such as `skew` or `vendor GitHub, primary limit`.
    var group: String
    var status: Int
    /// The headers, one per line.
    var lines: [String]
    var body: String
    /// The delay in whole seconds; `nil` if the response names none.
    var delay: Duration?

    var testDescription: String { "\(group): \(status) \(lines.joined(separator: " | ").prefix(80)) \(body.prefix(40))" }

    var headers: HTTPFields {
        var headers = HTTPFields()
        for line in lines {
            let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let name = HTTPField.Name(String(pair[0])) else { continue }
            headers.append(HTTPField(name: name, value: pair[1].trimmingCharacters(in: .whitespaces)))
        }
        return headers
    }

    /// Returns the delay that is read at a time of the local clock.
    func read(at now: Date) -> Duration? {
        ErrorDecoder().decode(status: status, headers: headers, body: Array(body.utf8), now: now).retryAfter
    }

    static let all: [RetryAfterCase] = (try? load()) ?? []

    private static func load() throws -> [RetryAfterCase] {
        let url = try #require(Bundle.module.url(forResource: "Resources/retry-after", withExtension: "jsonl"))
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map { line in
            let object = try #require(try JSONParser().parse(line.utf8).objectValue)
            return RetryAfterCase(
                group: try #require(object["group"]?.stringValue),
                status: Int(try #require(object["status"]?.doubleValue)),
                lines: (object["headers"]?.arrayValue ?? []).compactMap(\.stringValue),
                body: object["body"]?.stringValue ?? "",
                delay: object["seconds"]?.doubleValue.map { .seconds($0) }
            )
        }
    }
}
