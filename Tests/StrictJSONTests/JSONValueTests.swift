import Foundation
import StrictJSON
import Testing

@Suite struct JSONValueTests {
    @Test(
        "Writes a value compactly with members in their order",
        arguments: [
            (JSONValue.null, "null"), (true, "true"), (false, "false"), (-12, "-12"), (.number(0.5), "0.5"),
            (.number(1e300), "1e+300"), (.number(.infinity), "null"), (.number(.nan), "null"), ([], "[]"),
            ([1, "a", JSONValue.null], #"[1,"a",null]"#), ([:], "{}"), (["b": 1, "a": [:]], #"{"b":1,"a":{}}"#),
            ("a\"\\/\n\r\t\u{1}\u{1F}\u{7F}ñ💥", "\"a\\\"\\\\/\\n\\r\\t\\u0001\\u001f\u{7F}ñ💥\""), (["k\"": 1], #"{"k\"":1}"#),
        ] as [(JSONValue, String)]
    )
    func encoded(value: JSONValue, text: String) {
        #expect(String(decoding: value.encoded(), as: UTF8.self) == text)
    }

    @Test("A value survives Codable unchanged")
    func codable() throws {
        let value: JSONValue = ["a": [1, .number(0.5), "x", true, .null, ["b": []]], "c": .integer(.max), "d": [:]]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
        #expect(try JSONParser().parse(data) == value)
    }

    @Test("A value can be read only as its own type")
    func accessors() {
        #expect(JSONValue.string("a").stringValue == "a" && JSONValue.integer(1).stringValue == nil)
        #expect(JSONValue.integer(2).doubleValue == 2 && JSONValue.number(0.5).doubleValue == 0.5)
        #expect(JSONValue.string("2").doubleValue == nil && JSONValue.bool(true).doubleValue == nil)
        #expect(JSONValue.bool(true).boolValue == true && JSONValue.integer(1).boolValue == nil)
        #expect(JSONValue.array([1]).arrayValue == [1] && JSONValue.null.arrayValue == nil)
        #expect(JSONValue.object(["a": 1]).objectValue == ["a": 1] && JSONValue.null.objectValue == nil)
    }

    @Test("Equal objects have equal hashes, whatever the order of their members")
    func hashing() {
        let (left, right): (JSONValue, JSONValue) = (["a": 1, "b": [2]], ["b": [2], "a": 1])
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(left != ["a": 1] && left != ["a": 1, "b": [3]] && left != ["a": 1, "c": [2]])
    }

    @Test("Creates an object with many members in linear time", .timeLimit(.minutes(5)))
    func manyMembers() {
        let members = (0..<100_000).map { ("k\($0)", JSONValue.integer(Int64($0))) }
        let object = JSONObject(members + [("k7", JSONValue.string("last"))])
        #expect(object.members.count == members.count)
        #expect(object["k7"] == "last")
    }

    @Test("Sets a member, replaces it at its position and removes it")
    func members() {
        var object: JSONObject = ["a": 1, "b": 2, "a": 3]
        #expect(object.members.map(\.key) == ["a", "b"] && object["a"] == 3)
        object["b"] = 4
        object["c"] = .null
        object["a"] = nil
        object["z"] = nil
        #expect(object.members.map(\.key) == ["b", "c"])
        #expect(object["b"] == 4 && object["c"] == .null && object["a"] == nil)
        #expect(!object.isEmpty && JSONObject().isEmpty)
    }
}
