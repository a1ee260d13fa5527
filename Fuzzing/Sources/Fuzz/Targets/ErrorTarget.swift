import ErrorContract
import Foundation
import HTTPTypes

/// Decodes a response of any server as an error and as a success.
struct ErrorTarget: FuzzTarget {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)
    private let decoder = ErrorDecoder()

    init(folder: URL) throws {}

    func check(_ input: [UInt8]) throws {
        let response = RawResponse(input)
        let error = decoder.decode(status: response.status, headers: response.headers, body: response.body, now: Self.now)
        try check(error, status: response.status)
        let refusal = decoder.refusalInSuccess(status: 200, headers: response.headers, body: response.body, now: Self.now)
        if let refusal { try check(refusal, status: 200) }
    }

    private func check(_ error: DecodedError, status: Int) throws {
        if let fault = Soundness.fault(in: error, status: status) { throw Finding(description: fault) }
        let shown = APIError(error).presentation(in: .spanish, now: Self.now)
        try require(
            !shown.title.isEmpty && !shown.message.isEmpty && shown.message.utf8.count <= Soundness.longestText,
            "shows \(shown)"
        )
    }
}

/// A response as libFuzzer writes it: the status on a line, headers on lines, an empty line, the body. Missing parts have defaults.
private struct RawResponse {
    var status = 500
    var headers = HTTPFields()
    var body: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        let newline = UInt8(ascii: "\n")
        if let number = Int(String(decoding: rest.prefix { $0 != newline }, as: UTF8.self)), (100...599).contains(number) {
            status = number
        }
        rest = rest.drop { $0 != newline }.dropFirst()
        while let line = rest.split(separator: newline, maxSplits: 1, omittingEmptySubsequences: false).first, !line.isEmpty {
            if let field = HTTPField(line: line) { headers.append(field) }
            rest = rest.dropFirst(line.count + 1)
        }
        body = rest.dropFirst()
    }
}

extension HTTPField {
    /// Reads `Name:value`; `nil` if the name can't be that of a field.
    init?(line: ArraySlice<UInt8>) {
        let pair = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard pair.count == 2, let name = HTTPField.Name(String(decoding: pair[0], as: UTF8.self)) else { return nil }
        self.init(name: name, value: String(decoding: pair[1], as: UTF8.self))
    }
}
