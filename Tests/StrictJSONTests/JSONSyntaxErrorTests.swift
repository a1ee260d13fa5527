import StrictJSON
import Testing

@Suite struct JSONSyntaxErrorTests {
    private func fault(_ bytes: [UInt8]) -> JSONSyntaxError? {
        do {
            _ = try JSONParser().parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Reports a truncated text as such",
        arguments: [
            "", " ", "{", "[", "[1", "[1,", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #""abc"#, #""a\"#, #""\u12"#, "tru",
            "nul", "-",
        ]
    )
    func unexpectedEnd(text: String) {
        #expect(fault(Array(text.utf8))?.reason == .unexpectedEnd)
        #expect(fault(Array(text.utf8))?.offset == text.utf8.count)
    }

    @Test(
        "Reports a misplaced character with its position",
        arguments: [
            ("[1,]", 3), (#"{"a":1,}"#, 7), ("{a:1}", 1), ("{'a':1}", 1), ("[1 2]", 3), (#"{"a" 1}"#, 5), ("1 2", 2), ("tRue", 1),
            ("[t]", 2), ("undefined", 0), ("NaN", 0), ("Infinity", 0), ("-Infinity", 1), ("+1", 0), (".5", 0), ("//c", 0),
            ("[1]]", 3), ("}", 0), ("0x10", 1), ("\u{FEFF}{}", 0), ("\u{A0}1", 0), ("\u{C}1", 0), ("{,}", 1), ("[,1]", 1),
            (#"{"a"::1}"#, 5), ("<html>", 0),
        ]
    )
    func unexpectedCharacter(text: String, offset: Int) {
        #expect(fault(Array(text.utf8))?.reason == .unexpectedCharacter)
        #expect(fault(Array(text.utf8))?.offset == offset)
    }

    @Test(
        "Refuses a number that JSON does not have",
        arguments: ["01", "-01", "00", "1.", "1.e5", "1e", "1e+", "1e-x", "1.x", "1e400", "-1e400"]
    )
    func invalidNumber(text: String) {
        #expect(fault(Array(text.utf8))?.reason == .invalidNumber)
    }

    @Test(
        "Can read a number that is too large as null, and nothing else",
        arguments: ["1e400", "-1e400", "[1e999,2]"]
    )
    func overflow(text: String) throws {
        let value = try JSONParser(overflow: .null).parse(text.utf8)
        #expect(value == .null || value == [.null, 2])
        for garbage in ["01", "1.", "1e", "NaN", "-", "1e400x"] {
            #expect(throws: JSONSyntaxError.self) { try JSONParser(overflow: .null).parse(garbage.utf8) }
        }
    }

    @Test(
        "Refuses a string with a bad escape, a lone surrogate or a control character",
        arguments: [
            #""\x""#, #""\u12G4""#, #""\u+123""#, #""\uD800""#, #""\uDC00""#, #""\uD800\u0041""#, #""\uD800x""#, #""\uD83D\n""#,
            #""\uDCA5\uD83D""#, "\"a\nb\"", "\"\u{0}\"", "\"\\\u{1F}\"", "\"\\n\u{1F}\"",
        ]
    )
    func invalidString(text: String) {
        #expect(fault(Array(text.utf8))?.reason == .invalidString)
    }

    @Test(
        "Refuses bytes that are not UTF-8, with and without an escape beside them",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x92], [0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]]
    )
    func invalidUTF8(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(fault([quote] + bytes + [quote])?.reason == .invalidString)
        #expect(fault([quote] + Array(#"\n"#.utf8) + bytes + [quote])?.reason == .invalidString)
        #expect(fault(Array("{\"".utf8) + bytes + Array("\":1}".utf8))?.reason == .invalidString)
        #expect(fault(bytes) != nil)
    }

    @Test("Refuses a text in UTF-16", arguments: [[0xFE, 0xFF, 0x00, 0x7B], [0x7B, 0x00, 0x7D, 0x00]] as [[UInt8]])
    func utf16(bytes: [UInt8]) {
        #expect(fault(bytes)?.reason == .unexpectedCharacter)
    }

    @Test("The description contains the fault and the position")
    func description() {
        #expect(fault(Array("[1,]".utf8))?.description == "unexpected character at byte 3")
    }
}
