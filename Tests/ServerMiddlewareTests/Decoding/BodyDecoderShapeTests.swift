import ErrorContract
import Foundation
import ServerMiddleware
import StrictJSON
import Testing

@Suite struct BodyDecoderShapeTests {
    private struct Order: Decodable, Equatable {
        struct Item: Decodable, Equatable {
            var name: String
            var count: Int
        }

        struct Address: Decodable, Equatable {
            var street: String
            var city: String?
        }

        var items: [Item]
        var address: Address
        var note: String?
        var tags: [String: Int]?
    }

    @Test("A valid body gives the value, and ignores unknown members")
    func right() async throws {
        let json = #"""
            {"items":[{"name":"a","count":1},{"name":"b","count":2}],"address":{"street":"s","city":null,"x":1},
            "tags":{"a":1},"unknown":[{}]}
            """#
        let expected = Order(
            items: [.init(name: "a", count: 1), .init(name: "b", count: 2)],
            address: .init(street: "s", city: nil),
            note: nil,
            tags: ["a": 1]
        )
        #expect(try await read(Order.self, json) == expected)
    }

    @Test("Reports every problem at once with its location, in the order of the type")
    func everything() async throws {
        let json = #"""
            {"items":[{"name":1,"count":"x"},{"count":2},{"name":"c","count":null},7],"address":{"city":5},"note":[],
            "tags":{"a":1,"b":"two"}}
            """#
        let error = try await refusal(Order.self, json)
        #expect(error.code == .validationInvalidInput)
        let found = error.problems.map { "\($0.path.name) \($0.path.pointer) \($0.code)" }
        #expect(
            found == [
                "items[0].name #/items/0/name VALIDATION_INVALID_FORMAT",
                "items[0].count #/items/0/count VALIDATION_INVALID_FORMAT",
                "items[1].name #/items/1/name VALIDATION_MISSING_FIELD",
                "items[2].count #/items/2/count VALIDATION_MISSING_FIELD",
                "items[3] #/items/3 VALIDATION_INVALID_FORMAT", "address.street #/address/street VALIDATION_MISSING_FIELD",
                "address.city #/address/city VALIDATION_INVALID_FORMAT", "note #/note VALIDATION_INVALID_FORMAT",
                "tags.b #/tags/b VALIDATION_INVALID_FORMAT",
            ]
        )
    }

    @Test("An empty object lacks every required member, and nothing else")
    func empty() async throws {
        let error = try await refusal(Order.self, "{}")
        #expect(error.code == .validationMissingField)
        #expect(error.problems.map(\.path.name) == ["items", "address"])
    }

    @Test("Null counts as absent: an error only where a value is required")
    func null() async throws {
        let found = try await problems(Order.self, #"{"items":null,"address":{"street":null},"note":null,"tags":null}"#)
        #expect(found == ["items: VALIDATION_MISSING_FIELD", "address.street: VALIDATION_MISSING_FIELD"])
    }

    @Test("Refuses another type at the top as a whole", arguments: ["[]", "null", "7", "true", #""text""#, "[{}]"])
    func top(json: String) async throws {
        let error = try await refusal(Order.self, json)
        #expect(error.code == .validationInvalidFormat)
        #expect(error.problems.map(\.path) == [FieldPath()])
        #expect(error.problems.map(\.path.pointer) == ["#"])
    }

    @Test("Problems in an array at the top name its elements")
    func topArray() async throws {
        #expect(try await read([Int].self, "[1,2]") == [1, 2])
        #expect(
            try await problems([Int].self, #"[1,"x",null]"#) == [
                "[1]: VALIDATION_INVALID_FORMAT", "[2]: VALIDATION_MISSING_FIELD",
            ]
        )
        #expect(try await problems([Int].self, "{}") == [": VALIDATION_INVALID_FORMAT"])
    }

    @Test("Null is valid where a type has a value for it")
    func optionalElements() async throws {
        #expect(try await read([String?].self, #"["a",null]"#) == ["a", nil])
        #expect(try await read([String: Int?].self, #"{"a":1,"b":null}"#) == ["a": 1, "b": nil])
        #expect(try await problems([String?].self, #"[null,1]"#) == ["[1]: VALIDATION_INVALID_FORMAT"])
    }

    @Test("Reads any JSON where the type allows it, but requires required members")
    func anyJSON() async throws {
        struct Holder: Decodable {
            var value: JSONValue
            var extra: JSONValue?
        }
        #expect(try await read(Holder.self, #"{"value":[1,null]}"#).value == [1, .null])
        #expect(try await read(Holder.self, #"{"value":null}"#).value == .null)
        #expect(try await problems(Holder.self, "{}") == ["value: VALIDATION_MISSING_FIELD"])
    }

    @Test("Decodes a recursive type and reports its problems")
    func recursive() async throws {
        final class Node: Decodable {
            let name: String
            let left: Node?
            let children: [Node]?
        }
        #expect(try await read(Node.self, #"{"name":"a","left":{"name":"b"},"children":[]}"#).left?.name == "b")
        let found = try await problems(Node.self, #"{"name":1,"left":{"name":2,"left":3},"children":[{"name":"ok"},{}]}"#)
        #expect(
            found == [
                "name: VALIDATION_INVALID_FORMAT", "left.name: VALIDATION_INVALID_FORMAT", "left.left: VALIDATION_INVALID_FORMAT",
                "children[1].name: VALIDATION_MISSING_FIELD",
            ]
        )
    }

    @Test("Refuses an infinitely recursive type")
    func endless() async throws {
        final class Endless: Decodable {
            let next: Endless
            let other: Endless
        }
        #expect(try await problems(Endless.self, "{}").first == "next: VALIDATION_MISSING_FIELD")
        #expect(try await problems(Endless.self, #"{"next":{"next":{}}}"#).first == "next.next.next: VALIDATION_MISSING_FIELD")
    }

    @Test("Collects one problem more than a response reports, to detect that there are more")
    func bounded() async throws {
        let json = "[" + (0..<1_000).map { _ in "{}" }.joined(separator: ",") + "]"
        let error = try await refusal([Order.Item].self, json)
        #expect(error.problems.count == ContractError.maximumProblems + 1)
        #expect(error.problems[49].path.name == "[24].count")
        #expect(error.code == .validationMissingField)
    }

    @Test("Reports a problem at an overlong unknown name at its parent")
    func longNames() async throws {
        let long = String(repeating: "k", count: 129)
        #expect(try await problems([String: [String: Int]].self, #"{"a":{"\#(long)":"x"}}"#) == ["a: VALIDATION_INVALID_FORMAT"])
        #expect(try await problems([String: Int].self, #"{"\#(long)":"x"}"#) == [": VALIDATION_INVALID_FORMAT"])
        let short = String(repeating: "k", count: 128)
        #expect(try await problems([String: Int].self, #"{"\#(short)":"x"}"#) == ["\(short): VALIDATION_INVALID_FORMAT"])
    }

    @Test("Members with special characters have exact pointers")
    func strangeNames() async throws {
        let error = try await refusal([String: Int].self, #"{"a/b~c %":"x"}"#)
        #expect(error.problems.map(\.path.pointer) == ["#/a~1b~0c%20%25"])
    }
}
