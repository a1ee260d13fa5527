import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import StrictJSON
import Testing

@Suite struct JSONFuzzTests {
    private static let seeds = [
        #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Demasiados intentos.","details":{"retry_after":3600},"request_id":"01J"}}"#,
        #"{"code":"VALIDATION_INVALID_INPUT","message":"x","details":{"field_errors":{"email":["a","b"],"name":"c"}}}"#,
        #"{"success":false,"error_code":429,"errors":[{"field":"rate_limit","message":"\u00e1\uD83D\uDCA5"}],"error":"text"}"#,
        #"{"detail":"no","a":[1,-2.5e10,0.001,true,false,null,{"b":[[[]]]}],"s":"\"\\\/\b\f\n\r\t"}"#,
        #"[9223372036854775807,-9223372036854775808,1e308,1e-308,"ñ💥\u0000"]"#,
    ]
    private static let tokens = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\uD800", "null", "-", "1e999", "0", "\u{FEFF}", "e", ".",
    ]

    private static func mutated(_ generator: inout SplitMix64) -> [UInt8] {
        var bytes = Array((seeds.randomElement(using: &generator) ?? "").utf8)
        bytes.mutate(using: &generator) { Array((tokens.randomElement(using: &$0) ?? "").utf8) }
        return bytes
    }

    @Test(
        "For any bytes nothing traps, and a read value survives a round trip",
        arguments: [1, 2, 3, 4]
    )
    func roundTrip(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var readable = 0
        for _ in 0..<5_000 {
            let bytes = Self.mutated(&generator)
            guard let value = try? JSONParser().parse(bytes) else { continue }
            readable += 1
            guard try JSONParser().parse(value.encoded()) == value else {
                Issue.record("not the same again: \(String(decoding: bytes, as: UTF8.self))")
                return
            }
        }
        #expect(readable > 100, "the mutations leave some texts readable")
        #expect(readable < 4_900, "the mutations break some texts")
    }

    @Test("For any bytes the error decoder keeps the status and invents nothing", arguments: [5, 6])
    func decoder(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<2_500 {
            let bytes = Self.mutated(&generator)
            let error = ErrorDecoder().decode(status: 503, headers: [:], body: bytes, now: .init(timeIntervalSince1970: 0))
            let hasCode =
                error.code.map { !$0.rawValue.isEmpty && $0.rawValue.utf8.allSatisfy { (0x21...0x7E).contains($0) } } ?? true
            let hasDelay = error.retryAfter.map { $0 >= .zero && $0 <= RetryAfter.longest } ?? true
            guard error.status == 503, hasCode, hasDelay else {
                Issue.record("misread: \(String(decoding: bytes, as: UTF8.self))")
                return
            }
        }
    }
}
