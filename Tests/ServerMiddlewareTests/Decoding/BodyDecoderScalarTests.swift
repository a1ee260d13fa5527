import ErrorContract
import Foundation
import ServerMiddleware
import Testing

@Suite struct BodyDecoderScalarTests {
    private struct One<Value: Decodable & Sendable>: Decodable, Sendable {
        var value: Value
    }

    private func value<Value: Decodable & Sendable>(_ type: Value.Type, _ json: String) async throws -> Value {
        try await read(One<Value>.self, #"{"value":\#(json)}"#).value
    }

    private func code<Value: Decodable & Sendable>(_ type: Value.Type, _ json: String) async throws -> ErrorCode {
        let error = try await refusal(One<Value>.self, #"{"value":\#(json)}"#)
        #expect(error.problems.map(\.path.pointer) == ["#/value"])
        return error.code
    }

    @Test("Reads integers in their range, also written with a fraction of zero")
    func integers() async throws {
        #expect(try await value(Int8.self, "-128") == -128)
        #expect(try await value(UInt8.self, "255") == 255)
        #expect(try await value(Int.self, "9223372036854775807") == .max)
        #expect(try await value(Int.self, "1.0") == 1)
        #expect(try await value(Int.self, "1e3") == 1_000)
        #expect(try await value(UInt16.self, "0") == 0)
    }

    @Test(
        "Refuses an integer out of range and a value that is not an integer",
        arguments: ["128", "-129", "1.5", "1e300", #""7""#, "true", "[]"]
    )
    func badInteger(json: String) async throws {
        #expect(try await code(Int8.self, json) == .validationInvalidFormat)
    }

    @Test(
        "Refuses a number that would be read as another one",
        arguments: ["9223372036854775809", "18446744073709551615", "-1"]
    )
    func inexactInteger(json: String) async throws {
        #expect(try await code(UInt64.self, json) == .validationInvalidFormat)
    }

    @Test("Reads floating-point numbers, and refuses one too large for its type")
    func floats() async throws {
        #expect(try await value(Double.self, "1") == 1)
        #expect(try await value(Double.self, "-2.5e-3") == -0.0025)
        #expect(try await value(Float.self, "0.1") == 0.1)
        #expect(try await code(Float.self, "1e300") == .validationInvalidFormat)
        #expect(try await code(Double.self, #""1""#) == .validationInvalidFormat)
    }

    @Test(
        "Reads decimal numbers exactly",
        arguments: [
            ("12.35", "12.35"), ("-0.1", "-0.1"), ("7", "7"), ("12.50", "12.5"), ("1e3", "1000"),
            ("2.5e-3", "0.0025"), ("1e-7", "0.0000001"), ("123456789012.345", "123456789012.345"),
            ("9223372036854775807", "9223372036854775807"),
        ]
    )
    func decimals(json: String, number: String) async throws {
        #expect(try await value(Decimal.self, json) == Decimal(string: number))
    }

    @Test(
        "Refuses a decimal number that would be rounded, and other values",
        arguments: ["90071992547409.93", "0.1234567890123456", "100000000000000000001", "1e300", #""1.5""#, "true", "{}", "[]"]
    )
    func badDecimals(json: String) async throws {
        #expect(try await code(Decimal.self, json) == .validationInvalidFormat)
    }

    private struct Item: Decodable {
        var price: Decimal
        var picture: Data
        var name: String
    }

    @Test("Reports the other problems after an invalid decimal number or invalid bytes")
    func numbersAmongOthers() async throws {
        let found = try await problems(Item.self, #"{"price":"x","picture":"?","name":1}"#)
        let names = ["price", "picture", "name"]
        #expect(found == names.map { "\($0): VALIDATION_INVALID_FORMAT" })
    }

    @Test("Reads bytes in base64, as a client's encoder writes them")
    func bytes() async throws {
        let bytes = Data([0, 0xFB, 0xFF, 7])
        #expect(try await value(Data.self, String(decoding: try JSONEncoder().encode(bytes), as: UTF8.self)) == bytes)
        #expect(try await value(Data.self, #""""#) == Data())
        for json in [#""AA=""#, #""-_8=""#, #""no base64""#, "7"] {
            #expect(try await code(Data.self, json) == .validationInvalidFormat)
        }
    }

    @Test("Reads texts and Booleans unchanged")
    func textAndTruth() async throws {
        #expect(try await value(String.self, #""a\u0000ñ""#) == "a\0ñ")
        #expect(try await value(Bool.self, "false") == false)
        #expect(try await code(String.self, "1") == .validationInvalidFormat)
        #expect(try await code(Bool.self, "1") == .validationInvalidFormat)
        #expect(try await code(Bool.self, "null") == .validationMissingField)
    }

    @Test(
        "Reads dates in the form of RFC 3339",
        arguments: [
            ("2025-01-01T00:00:00Z", 1_735_689_600), ("2025-01-01T02:00:00+02:00", 1_735_689_600),
            ("2024-12-31T23:30:00-00:30", 1_735_689_600), ("2025-01-01T00:00:00.500Z", 1_735_689_600.5),
            ("2024-02-29T12:00:00Z", 1_709_208_000), ("1969-12-31T23:59:59Z", -1),
        ]
    )
    func dates(text: String, seconds: Double) async throws {
        let date = try await value(Date.self, "\"\(text)\"")
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001)
    }

    @Test(
        "Refuses a date that does not exist or has another form",
        arguments: [
            "", "today", "2025-01-01", "01/02/2025", "2025-01-01T00:00:00", "2025-01-01 00:00:00Z", "2025-02-30T00:00:00Z",
            "2025-13-01T00:00:00Z", "2025-01-01T25:00:00Z", "2025-01-01T00:00:00Zjunk", "1735689600", "2023-02-29T00:00:00Z",
        ]
    )
    func badDates(text: String) async throws {
        #expect(try await code(Date.self, "\"\(text)\"") == .validationInvalidDate)
    }

    @Test("Refuses a number as a date")
    func numericDate() async throws {
        #expect(try await code(Date.self, "1735689600") == .validationInvalidFormat)
    }

    @Test("Reads URLs, and refuses other texts as URLs")
    func urls() async throws {
        #expect(try await value(URL.self, #""https://example.com/a?b=c#d""#).host() == "example.com")
        for text in ["", "http://[", "not a url", "http://exa mple.com/"] {
            #expect(try await code(URL.self, "\"\(text)\"") == .validationInvalidURL)
        }
        #expect(try await code(URL.self, "7") == .validationInvalidFormat)
    }

    @Test("Reads UUIDs in any case, and refuses anything else")
    func uuids() async throws {
        let id = UUID()
        #expect(try await value(UUID.self, "\"\(id.uuidString.lowercased())\"") == id)
        for json in [#""""#, #""7""#, "7", #""00000000-0000-0000-0000-00000000000""#] {
            #expect(try await code(UUID.self, json) == .validationInvalidFormat)
        }
    }

    private enum Colour: String, Decodable, CaseIterable { case red, green }
    private enum Size: String, Decodable { case small = "S", large = "L" }
    private enum Level: Int, Decodable, CaseIterable { case low = 1, high = 2 }

    @Test("Reads enums by raw value, and refuses unknown values")
    func enums() async throws {
        #expect(try await value(Colour.self, #""green""#) == .green)
        #expect(try await value(Size.self, #""L""#) == .large)
        #expect(try await value(Level.self, "2") == .high)
        for json in [#""blue""#, #""Red""#, "1", "[]"] {
            #expect(try await code(Colour.self, json) == .validationInvalidFormat)
            #expect(try await code(Size.self, json) == .validationInvalidFormat)
        }
        #expect(try await code(Level.self, "3") == .validationInvalidFormat)
    }

    private struct Picture: Decodable {
        var colour: Colour
        var size: Size?
        var width: Int
    }

    @Test("Reports the other problems after an unknown value of an enum with listed cases")
    func enumAmongOthers() async throws {
        let found = try await problems(Picture.self, #"{"colour":"blue","width":"x"}"#)
        #expect(found == ["colour: VALIDATION_INVALID_FORMAT", "width: VALIDATION_INVALID_FORMAT"])
    }

    @Test("After an unknown value of another enum the list may be short, but not wrong")
    func enumWithoutCases() async throws {
        let found = try await problems([Picture].self, #"[{"colour":"red","size":"XXL","width":"x"},{"colour":"red","width":1}]"#)
        #expect(found.first == "[0].size: VALIDATION_INVALID_FORMAT")
        #expect(Set(found).isSubset(of: ["[0].size: VALIDATION_INVALID_FORMAT", "[0].width: VALIDATION_INVALID_FORMAT"]))
    }
}
