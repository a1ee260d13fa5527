import ErrorContract
import Testing

@Suite struct ErrorCatalogueTests {
    private static func definition(_ code: ErrorCode, status: Int = 402) -> ErrorDefinition {
        ErrorDefinition(
            code,
            family: ErrorFamily(rawValue: "PAYMENT"),
            status: status,
            summary: "Card declined",
            userAction: "Use another card",
            recovery: .fixFields,
            message: LocalizedText(en: "The card was declined.", es: "La tarjeta fue rechazada.")
        )
    }

    @Test("Every code has a text in every language", arguments: ErrorCatalogue.standard.definitions)
    func texts(definition: ErrorDefinition) {
        let texts = Language.supported.map(definition.message.text(in:))
        #expect(definition.message.languages.isSuperset(of: Language.supported))
        #expect(texts.allSatisfy { !$0.isEmpty && !$0.contains("{") }, "no placeholder is left open")
        #expect(Set(texts).count == texts.count, "no two languages say the same in the same words")
    }

    @Test("Every code has one to three sentences of documentation for developers", arguments: ErrorCatalogue.standard.definitions)
    func documentation(definition: ErrorDefinition) {
        let text = definition.documentation
        #expect((80...400).contains(text.count), "\(definition.code)")
        #expect(text.hasPrefix("Returned ") && text.hasSuffix("."), "\(definition.code)")
        #expect(!text.contains("\n") && !text.contains("  "), "\(definition.code)")
        #expect((1...3).contains(text.matches(of: /\.(?= [A-Z]|$)/).count), "\(definition.code)")
        for name in text.matches(of: /[A-Z]+_[A-Z_]+[A-Z]/) where name.output != definition.code.rawValue {
            #expect(ErrorCatalogue.standard[ErrorCode(String(name.output))] != nil, "\(definition.code) names \(name.output)")
        }
    }

    @Test("Every code belongs to the family that its prefix names", arguments: ErrorCatalogue.standard.definitions)
    func family(definition: ErrorDefinition) {
        #expect(definition.code.rawValue.hasPrefix(definition.family.rawValue + "_"))
        #expect((400...599).contains(definition.status))
        #expect(!definition.since.isEmpty)
    }

    @Test("Marks only the codes that reveal whether an account exists")
    func revealing() {
        let revealing = ErrorCatalogue.standard.definitions.filter(\.mayRevealAccount).map(\.code)
        #expect(
            Set(revealing) == [
                .authUserNotFound, .authUserInactive, .authUserSuspended, .authEmailExists, .authEmailNotVerified,
                .authAccountDeleted,
            ]
        )
    }

    @Test("An app adds its own codes after the standard ones")
    func adding() throws {
        let catalogue = try ErrorCatalogue.standard.adding([Self.definition("PAYMENT_DECLINED")])
        #expect(catalogue.definitions.count == 62)
        #expect(catalogue.definitions.last?.code == "PAYMENT_DECLINED")
        #expect(catalogue["PAYMENT_DECLINED"]?.status == 402)
        #expect(ErrorCatalogue.standard["PAYMENT_DECLINED"] == nil)
    }

    @Test("Refuses an existing code and a duplicate one")
    func duplicates() throws {
        let catalogue = try ErrorCatalogue.standard.adding([Self.definition("PAYMENT_DECLINED")])
        let present = #expect(throws: DuplicateErrorCode.self) { try catalogue.adding([Self.definition("PAYMENT_DECLINED")]) }
        #expect(present?.code == "PAYMENT_DECLINED")
        let twice = #expect(throws: DuplicateErrorCode.self) {
            try ErrorCatalogue.standard.adding([Self.definition("PAYMENT_LATE"), Self.definition("PAYMENT_LATE", status: 409)])
        }
        #expect(twice?.description == "the catalogue has PAYMENT_LATE already")
    }

    @Test(
        "Describes an unknown code by the longest known prefix up to an underscore",
        arguments: [
            ("API_KEY_INVALID_REGION", ErrorCode.apiKeyInvalid), ("AUTH_TOKEN_EXPIRED_A_B_C", .authTokenExpired),
            ("RATE_LIMIT_EXCEEDED", .rateLimitExceeded), ("API_KEY_INVALIDATED", nil), ("AUTH_", nil), ("AUTH", nil), ("", nil),
            ("_", nil), ("FOO_BAR", nil),
        ]
    )
    func closest(code: String, expected: ErrorCode?) {
        #expect(ErrorCatalogue.standard.closestDefinition(to: ErrorCode(code))?.code == expected)
    }

    @Test("A definition outside its family or without an error status fails a precondition")
    func preconditions() async {
        await #expect(processExitsWith: .failure) { _ = ErrorCatalogueTests.definition("CARD_DECLINED") }
        await #expect(processExitsWith: .failure) { _ = ErrorCatalogueTests.definition("PAYMENT_DECLINED", status: 200) }
        await #expect(processExitsWith: .failure) { _ = ErrorCatalogueTests.definition("PAYMENT_DECLINED", status: 600) }
    }
}

extension ErrorCode: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self.init(value) }
}
