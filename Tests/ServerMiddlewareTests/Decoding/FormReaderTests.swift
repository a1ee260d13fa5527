import ErrorContract
import Foundation
import Hummingbird
import ServerMiddleware
import Testing

@Suite struct FormReaderTests {
    private static let media = "application/x-www-form-urlencoded"

    private func read<Value: Decodable>(_ type: Value.Type, _ body: String) async throws -> Value {
        try await RequestReader().read(type, from: .post(body, type: Self.media))
    }

    @Test(
        "Decodes percent-encoding and plus signs in fields",
        arguments: [
            ("", [:]), ("a=1", ["a": "1"]), ("a=1&b=2", ["a": "1", "b": "2"]), ("a=", ["a": ""]), ("a", ["a": ""]),
            ("=x", ["": "x"]),
            ("a=b=c", ["a": "b=c"]), ("a+b=c+d", ["a b": "c d"]), ("a=%2B%20%26%3D", ["a": "+ &="]), ("&&a=1&&", ["a": "1"]),
            ("a%3Db=1", ["a=b": "1"]), ("n=%C3%B1and%c3%ba", ["n": "ñandú"]), ("n=ñ", ["n": "ñ"]), ("a=%00", ["a": "\0"]),
            ("email=ana%2Btest%40example.com", ["email": "ana+test@example.com"]), ("a=%25%2525", ["a": "%%25"]),
        ] as [(String, [String: String])]
    )
    func fields(body: String, fields: [String: String]) async throws {
        #expect(try await read([String: String].self, body) == fields)
    }

    @Test(
        "Refuses an ambiguous or unreadable form as malformed",
        arguments: [
            "a=1&a=2", "a=1&%61=2", "a&a", "a=%", "a=%4", "a=%zz", "a=%+1", "a=% 1", "%=1", "a=%FF", "a=%C3", "a=%ED%A0%80",
            "a=%١٢", (0...100).map { "f\($0)=1" }.joined(separator: "&"),
        ]
    )
    func malformed(body: String) async throws {
        #expect(try await refusal([String: String].self, body, media: Self.media).code == .requestMalformed)
    }

    @Test("Refuses bytes that are not UTF-8 as malformed")
    func notUTF8() async {
        let error = await #expect(throws: ContractError.self) {
            try await RequestReader().read([String: String].self, from: .post([0x61, 0x3D, 0xFF], type: Self.media))
        }
        #expect(error?.code == .requestMalformed)
    }

    @Test("Reads a hundred fields")
    func hundredFields() async throws {
        let body = (0..<100).map { "f\($0)=1" }.joined(separator: "&")
        #expect(try await read([String: String].self, body).count == 100)
    }

    private struct Scalars: Decodable, Equatable {
        var count: Int?
        var ratio: Double?
        var flag: Bool?
        var day: Date?
        var id: UUID?
    }

    @Test("Reads numbers, Booleans, dates and ids from text")
    func scalars() async throws {
        let id = UUID()
        let scalars = try await read(Scalars.self, "count=-7&ratio=1.5&flag=on&day=2025-01-01T00:00:00Z&id=\(id)")
        let expected = Scalars(count: -7, ratio: 1.5, flag: true, day: Date(timeIntervalSince1970: 1_735_689_600), id: id)
        #expect(scalars == expected)
    }

    @Test(
        "Reads Booleans in several notations",
        arguments: [
            ("true", true), ("TRUE", true), ("1", true), ("on", true), ("yes", true), ("false", false), ("0", false),
            ("off", false),
            ("no", false),
        ]
    )
    func truth(text: String, flag: Bool) async throws {
        #expect(try await read(Scalars.self, "flag=\(text)").flag == flag)
    }

    @Test("Refuses any other text by field, all at once")
    func badScalars() async throws {
        let found = try await problems(Scalars.self, "count=1.5&ratio=nan&flag=maybe&day=today&id=7", media: Self.media)
        #expect(
            found == [
                "count: VALIDATION_INVALID_FORMAT", "ratio: VALIDATION_INVALID_FORMAT", "flag: VALIDATION_INVALID_FORMAT",
                "day: VALIDATION_INVALID_DATE", "id: VALIDATION_INVALID_FORMAT",
            ]
        )
        for text in ["inf", "1e999", "", "abc"] {
            #expect(try await problems(Scalars.self, "ratio=\(text)", media: Self.media).count == 1)
        }
        for text in ["99999999999999999999", "", "x", "0x10"] {
            #expect(try await problems(Scalars.self, "count=\(text)", media: Self.media).count == 1)
        }
    }

    private struct Price: Decodable {
        var price: Decimal
    }

    @Test("Reads decimal numbers from text, and refuses other text after a number")
    func decimals() async throws {
        #expect(try await read(Price.self, "price=-90071992547409.93").price == Decimal(string: "-90071992547409.93"))
        for text in ["12.5x", "1,5", "", "nan", "1e3", ".5", "5."] {
            #expect(try await problems(Price.self, "price=\(text)", media: Self.media) == ["price: VALIDATION_INVALID_FORMAT"])
        }
    }

    @Test("In JSON a text is neither a number nor a Boolean")
    func jsonIsStrict() async throws {
        let found = try await problems(Scalars.self, #"{"count":"1","ratio":"1","flag":"true"}"#)
        #expect(found.count == 3)
    }
}
