import ErrorContract
import ServerMiddleware
import Testing

@Suite struct BodyDecoderValidationTests {
    private struct Refused: ContractRefusal {
        var code: ErrorCode
    }

    /// A text that validates itself with a contract error.
    private struct Nickname: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
            guard text.count >= 3 else { throw Refused(code: .validationFieldTooShort) }
            guard text.count <= 10 else { throw Refused(code: .validationFieldTooLong) }
        }
    }

    /// A number that validates itself with a `DecodingError`, like Foundation's types.
    private struct Percentage: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try container.decode(Int.self)
            guard (0...100).contains(value) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 0–100: secret detail")
            }
        }
    }

    /// A pair with a rule that involves both of its members.
    private struct Span: Decodable {
        let start: Int
        let end: Int

        enum CodingKeys: CodingKey { case start, end }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            start = try container.decode(Int.self, forKey: .start)
            end = try container.decode(Int.self, forKey: .end)
            guard start < end else { throw Refused(code: .validationInvalidDate) }
        }
    }

    private struct Profile: Decodable {
        var nickname: Nickname
        var other: Nickname?
        var share: Percentage
        var title: String
        var span: Span
    }

    @Test("Custom types refuse with their code and location, and the rest is validated")
    func ownTypes() async throws {
        let json = #"{"nickname":"ab","other":"far too long a name","share":101,"title":7,"span":{"start":2,"end":1}}"#
        let error = try await refusal(Profile.self, json)
        #expect(error.code == .validationInvalidInput)
        #expect(
            error.problems.map { "\($0.path.name): \($0.code)" } == [
                "nickname: VALIDATION_FIELD_TOO_SHORT", "other: VALIDATION_FIELD_TOO_LONG", "share: VALIDATION_INVALID_FORMAT",
                "title: VALIDATION_INVALID_FORMAT", "span: VALIDATION_INVALID_DATE",
            ]
        )
    }

    @Test("The top-level code is the one that all problems share")
    func sharedCode() async throws {
        #expect(try await refusal([Nickname].self, #"["a","b"]"#).code == .validationFieldTooShort)
        #expect(try await refusal([Nickname].self, #"["a",""]"#).code == .validationFieldTooShort)
        #expect(try await refusal([Nickname].self, #"["a",null]"#).code == .validationInvalidInput)
    }

    @Test("A wrong type precedes the type's own rules")
    func wrongType() async throws {
        #expect(try await problems([Nickname].self, "[7]") == ["[0]: VALIDATION_INVALID_FORMAT"])
        #expect(try await problems([Percentage].self, #"["x"]"#) == ["[0]: VALIDATION_INVALID_FORMAT"])
    }

    @Test("Skips rules across members while one of them is a placeholder")
    func noFalseProblem() async throws {
        #expect(try await problems(Span.self, #"{"start":5,"end":"x"}"#) == ["end: VALIDATION_INVALID_FORMAT"])
        #expect(try await problems(Span.self, #"{"end":-5}"#) == ["start: VALIDATION_MISSING_FIELD"])
        #expect(try await problems(Span.self, #"{"start":2,"end":1}"#) == [": VALIDATION_INVALID_DATE"])
    }

    @Test("The error contains nothing of a type's own message")
    func noDetail() async throws {
        let error = try await refusal([Percentage].self, "[101]")
        #expect(!"\(error)".contains("secret detail"))
    }

    /// A union with a hand-written decoder that distinguishes its cases by a member.
    private enum Shape: Decodable {
        case circle(radius: Double)
        case square(side: Double)

        enum CodingKeys: CodingKey { case kind, radius, side }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            switch try container.decode(String.self, forKey: .kind) {
            case "circle": self = .circle(radius: try container.decode(Double.self, forKey: .radius))
            case "square": self = .square(side: try container.decode(Double.self, forKey: .side))
            default: throw DecodingError.dataCorruptedError(forKey: .kind, in: container, debugDescription: "unknown kind")
            }
        }
    }

    @Test("Supports hand-written decoders of unions")
    func union() async throws {
        #expect(try await read([Shape].self, #"[{"kind":"circle","radius":1},{"kind":"square","side":2}]"#).count == 2)
        #expect(try await problems([Shape].self, #"[{"kind":"circle"}]"#) == ["[0].radius: VALIDATION_MISSING_FIELD"])
        #expect(try await problems([Shape].self, #"[{"kind":"star"}]"#) == ["[0]: VALIDATION_INVALID_FORMAT"])
        #expect(try await problems([Shape].self, "[{}]") == ["[0].kind: VALIDATION_MISSING_FIELD"])
    }

    /// A type that decodes its members from a nested object by hand.
    private struct Flattened: Decodable {
        let city: String
        let numbers: [Int]

        enum CodingKeys: CodingKey { case address, numbers }
        enum AddressKeys: CodingKey { case city }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let address = try container.nestedContainer(keyedBy: AddressKeys.self, forKey: .address)
            city = try address.decode(String.self, forKey: .city)
            var list = try container.nestedUnkeyedContainer(forKey: .numbers)
            var numbers: [Int] = []
            while !list.isAtEnd { numbers.append(try list.decode(Int.self)) }
            self.numbers = numbers
        }
    }

    @Test("Problems in manually opened nested containers have their full location")
    func nestedContainers() async throws {
        #expect(try await read(Flattened.self, #"{"address":{"city":"x"},"numbers":[1,2]}"#).numbers == [1, 2])
        #expect(
            try await problems(Flattened.self, #"{"address":{"city":1},"numbers":[1,"x"]}"#) == [
                "address.city: VALIDATION_INVALID_FORMAT", "numbers[1]: VALIDATION_INVALID_FORMAT",
            ]
        )
        #expect(
            try await problems(Flattened.self, #"{"address":7}"#) == [
                "address: VALIDATION_INVALID_FORMAT", "numbers: VALIDATION_MISSING_FIELD",
            ]
        )
    }
}
