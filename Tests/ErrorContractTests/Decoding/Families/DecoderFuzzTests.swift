import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import StrictJSON
import Testing

@Suite struct DecoderFuzzTests {
    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 20_000
    private static let tokens = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\uD800", "null", "-1", "1e999", "0", "\u{FEFF}", "<", "\"error\":",
        "\"errors\":",
        "\"retry_after\":1e308", "\"code\":-9223372036854775808", "NaN", "\u{0}", "99999999999999999999",
    ]

    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SplitMix64) {
        bytes.mutate(using: &generator) { Array((tokens.randomElement(using: &$0) ?? "").utf8) }
    }

    /// Returns the headers with some of their values mutated like the body.
    private static func mutated(_ headers: HTTPFields, _ generator: inout SplitMix64) -> HTTPFields {
        var result = HTTPFields()
        for field in headers {
            var value = Array(field.value.utf8)
            if Bool.random(using: &generator) { mutate(&value, &generator) }
            result.append(HTTPField(name: field.name, value: String(decoding: value, as: UTF8.self)))
        }
        return result
    }

    @Test("No mutation of a known body traps or invents facts", arguments: [11, 12])
    func mutations(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<max(1, Self.rounds / 2) {
            let fixture = try #require(LabeledBody.small.randomElement(using: &generator))
            var bytes = fixture.body
            Self.mutate(&bytes, &generator)
            let headers = Self.mutated(fixture.headers, &generator)
            let decoder = ErrorDecoder()
            let error = decoder.decode(status: fixture.status, headers: headers, body: bytes, now: LabeledBody.now)
            let refusal = decoder.refusalInSuccess(status: 200, headers: headers, body: bytes, now: LabeledBody.now)
            let fault =
                Soundness.fault(in: error, status: fixture.status) ?? refusal.flatMap { Soundness.fault(in: $0, status: 200) }
            if let fault {
                Issue.record("\(fault) from \(fixture.testDescription): \(String(decoding: bytes, as: UTF8.self)) \(headers)")
                return
            }
        }
    }

    @Test("A truncated body keeps its status and shows no partial text", arguments: LabeledBody.small)
    func cut(body: LabeledBody) {
        guard (try? JSONParser(duplicates: .lastWins).parse(body.body))?.objectValue != nil, body.body.first == UInt8(ascii: "{")
        else { return }
        for end in 1..<max(2, body.body.count) {
            let error = ErrorDecoder().decode(status: body.status, headers: [:], body: body.body[..<end], now: LabeledBody.now)
            #expect(error.status == body.status && error.message == nil && error.violations.isEmpty && error.retryAfter == nil)
        }
    }
}
