import StrictJSON
import Testing

@Suite struct JSONParserTests {
    private func parse(_ text: String, _ parser: JSONParser = JSONParser()) throws -> JSONValue {
        try parser.parse(Array(text.utf8))
    }

    @Test(
        "Reads a value",
        arguments: [
            ("null", JSONValue.null), ("true", true), (" false ", false), ("\t\r\n1\n", 1), ("\"\"", ""), ("[]", []), ("{}", [:]),
            ("[ ]", []), ("{ }", [:]), ("[1, \"a\" ,null,[true]]", [1, "a", JSONValue.null, [true]]),
            ("{\"a\":{\"b\":[1]},\"\":2}", ["a": ["b": [1]], "": 2]), ("\"\u{7F}\u{2028}ñ💥\"", "\u{7F}\u{2028}ñ💥"),
        ] as [(String, JSONValue)]
    )
    func values(text: String, expected: JSONValue) throws {
        #expect(try parse(text) == expected)
    }

    @Test(
        "Reads an escape",
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e1\u00E1""#, "Aáá"), (#""\uD83D\uDCA5""#, "💥"),
            (#""\ud83d\udca5!""#, "💥!"), (#""\u0000""#, "\u{0}"), (#""a\u0301""#, "a\u{301}"),
            (#""\uFFFF\uE000""#, "\u{FFFF}\u{E000}"),
        ]
    )
    func escapes(text: String, expected: String) throws {
        let read = try #require(try parse(text).stringValue)
        #expect(Array(read.unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test(
        "A number is an integer if possible, else a double",
        arguments: [
            ("0", JSONValue.integer(0)), ("-0", .integer(0)), ("42", .integer(42)), ("-7", .integer(-7)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9.223372036854776e18)),
            ("123456789012345678901234567890", .number(1.2345678901234568e29)), ("0.1", .number(0.1)), ("1.0", .number(1)),
            ("1e2", .number(100)), ("1E+2", .number(100)), ("-2.5e-1", .number(-0.25)), ("0e0", .number(0)),
            ("1e308", .number(1e308)), ("1e-400", .number(0)),
        ]
    )
    func numbers(text: String, expected: JSONValue) throws {
        #expect(try parse(text) == expected)
    }

    @Test("Members keep their order, which equality ignores")
    func order() throws {
        let object = try #require(try parse(#"{"b":1,"a":2}"#).objectValue)
        #expect(object.members.map(\.key) == ["b", "a"])
        #expect(try parse(#"{"b":1,"a":2}"#) == parse(#"{"a":2,"b":1}"#))
    }

    @Test(
        "Refuses a duplicate key, however it is written",
        arguments: [#"{"a":1,"a":2}"#, #"{"a":1,"\u0061":1}"#, #"[{"x":{"e":1,"f":2,"e":3}}]"#]
    )
    func duplicatesRefused(text: String) {
        #expect { try parse(text) } throws: { ($0 as? JSONSyntaxError)?.reason == .duplicateKey }
    }

    @Test(
        "Finds each key of an object with any number of members, and no other",
        arguments: [1, 2, 7, 8, 9, 31, 32, 33, 300]
    )
    func manyMembers(count: Int) throws {
        let members = (0..<count).map { "\"k\($0)x\":\($0)" }
        let object = try #require(try parse("{" + members.joined(separator: ",") + "}").objectValue)
        #expect(object.members.map(\.key) == (0..<count).map { "k\($0)x" })
        for index in 0..<count {
            let text = "{" + (members + ["\"k\(index)x\":true"]).joined(separator: ",") + "}"
            #expect { try parse(text) } throws: { ($0 as? JSONSyntaxError)?.reason == .duplicateKey }
            let last = try parse(text, JSONParser(duplicates: .lastWins)).objectValue
            #expect(last?.members.count == count && last?["k\(index)x"] == true)
        }
    }

    @Test("Keys that look the same but have different code units are two keys")
    func codeUnits() throws {
        let object = try #require(try parse(#"{"\u00e9":1,"e\u0301":2,"K":3,"\u212A":4}"#).objectValue)
        #expect(object.members.count == 4)
        #expect(object["\u{E9}"] == 1 && object["e\u{301}"] == 2 && object["K"] == 3 && object["\u{212A}"] == 4)
    }

    @Test("Equal texts of the same length with different code units are two keys")
    func codeUnitsOfSameLength() throws {
        let object = try #require(try parse(#"{"\u212B":1,"A\u030A":2}"#).objectValue)
        #expect(object.members.count == 2)
        #expect(object["\u{212B}"] == 1 && object["A\u{30A}"] == 2)
    }

    @Test(
        "Equal texts with different code units are two keys among many members",
        arguments: [JSONParser.Duplicates.refused, .lastWins]
    )
    func codeUnitsOfMany(duplicates: JSONParser.Duplicates) throws {
        // The lengths differ, so that the parser's filter of 64 bits contains the fingerprint of every key.
        let others = (1...64).map { "\"" + String(repeating: "a", count: $0) + "\":0" }
        let text = "{" + others.joined(separator: ",") + #","\u00e9":1,"e\u0301":2}"#
        let object = try #require(try parse(text, JSONParser(duplicates: duplicates)).objectValue)
        #expect(object.members.count == 66)
        #expect(object["\u{E9}"] == 1 && object["e\u{301}"] == 2)
    }

    @Test("If duplicates are allowed, the last value wins at the first one's position")
    func duplicatesLastWins() throws {
        let value = try parse(#"{"a":1,"b":2,"a":3}"#, JSONParser(duplicates: .lastWins))
        #expect(value == ["a": 3, "b": 2])
        #expect(value.objectValue?.members.map(\.key) == ["a", "b"])
    }

    @Test("Reads nesting down to the limit and not past it", arguments: [1, 2, 64, 200])
    func depth(limit: Int) throws {
        let parser = JSONParser(maximumDepth: limit)
        let arrays = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        let objects = { String(repeating: #"{"a":"#, count: $0) + "1" + String(repeating: "}", count: $0) }
        for nested in [arrays, objects] {
            _ = try parse(nested(limit), parser)
            #expect { try parse(nested(limit + 1), parser) } throws: { ($0 as? JSONSyntaxError)?.reason == .tooDeep }
        }
    }

    @Test("A depth limit of zero fails a precondition")
    func precondition() async {
        await #expect(processExitsWith: .failure) { _ = JSONParser(maximumDepth: 0) }
    }
}
