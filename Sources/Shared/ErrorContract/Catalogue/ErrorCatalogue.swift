/// The table of error codes: the one source from which answers, texts and documents derive.
///
/// The standard catalogue is append-only. An app or a server adds codes of its own with ``adding(_:)``.
public struct ErrorCatalogue: Sendable {
    /// Every definition, in the order of the table.
    public let definitions: [ErrorDefinition]
    /// The app's own words for the texts of codes and of the contract.
    public internal(set) var translations = Translations()
    private let index: [ErrorCode: Int]

    /// The codes of the contract: 50 of the published catalogue, and those that an account server on HTTP adds.
    public static let standard = ErrorCatalogue(
        unique: authentication + validation + rateLimit + server + resource + apiKey + social + content + request
    )

    private init(unique definitions: [ErrorDefinition]) {
        self.definitions = definitions
        self.index = Dictionary(uniqueKeysWithValues: definitions.enumerated().map { ($1.code, $0) })
    }

    /// Returns a catalogue with further codes behind the present ones. O(n).
    /// - Throws: ``DuplicateErrorCode`` if a code is there already, or is given twice.
    public func adding(_ additions: [ErrorDefinition]) throws(DuplicateErrorCode) -> ErrorCatalogue {
        var known = Set(index.keys)
        for addition in additions where !known.insert(addition.code).inserted {
            throw DuplicateErrorCode(code: addition.code)
        }
        var sum = ErrorCatalogue(unique: definitions + additions)
        sum.translations = translations
        return sum
    }

    /// The definition of a code, if the catalogue has it. O(1).
    public subscript(code: ErrorCode) -> ErrorDefinition? {
        index[code].map { definitions[$0] }
    }

    /// The definition that describes an unknown code best: the one of the longest known code that is a
    /// prefix of it at an underscore, such as `API_KEY_INVALID` for `API_KEY_INVALID_REGION`. O(length of the code).
    public func closestDefinition(to code: ErrorCode) -> ErrorDefinition? {
        if let exact = self[code] { return exact }
        var prefix = Substring(code.rawValue)
        while let underscore = prefix.lastIndex(of: "_") {
            prefix = prefix[..<underscore]
            if let found = self[ErrorCode(String(prefix))] { return found }
        }
        return nil
    }

    /// What a client may do by itself after an answer: by code, then by the longest known prefix, then by the family,
    /// then by the class of the status.
    /// - Parameters:
    ///   - code: The code that the server sent, if any.
    ///   - status: The HTTP status.
    public func retryClass(of code: ErrorCode?, status: Int) -> RetryClass {
        guard let code else { return Self.retryClass(ofStatus: status) }
        if let definition = closestDefinition(to: code) { return definition.retry }
        switch code.rawValue {
        case let text where text.hasPrefix("RATE_LIMIT_"): return .afterDelay
        case let text where text.hasPrefix("SERVER_"): return .withBackoff
        // What other servers call a quota that is used up: it is not back in a moment.
        case "QUOTA_EXCEEDED", "insufficient_quota": return .onlyAfterNamedDelay
        case let text where Self.families.contains { text.hasPrefix($0 + "_") }: return .never
        default: return Self.retryClass(ofStatus: status)
        }
    }

    private static let families = Set(standard.definitions.map(\.family.rawValue))

    private static func retryClass(ofStatus status: Int) -> RetryClass {
        switch status {
        case 401: .afterRefreshOrSignIn
        case 429: .afterDelay
        case 408, 500...599: .withBackoff
        default: .never
        }
    }
}

/// A code was added to a catalogue that has it already.
public struct DuplicateErrorCode: Error, Hashable, CustomStringConvertible {
    /// The code that is there already.
    public let code: ErrorCode

    /// The code that is there already, for a log.
    public var description: String { "the catalogue has \(code) already" }
}

extension ErrorCatalogue {
    /// Returns the same codes with an app's own words, which go before those of the codes and of the contract.
    ///
    /// ``APIError/presentation(in:now:catalogue:)`` and the screens of `AccountKit` say them, and so does a server whose
    /// renderer has the catalogue.
    public func saying(_ translations: Translations) -> ErrorCatalogue {
        var speaking = self
        speaking.translations = self.translations.adding(translations)
        return speaking
    }

    /// A text in a language, in the app's own words if there are some.
    public func text(_ text: LocalizedText, in language: Language) -> String {
        text.text(in: language, saying: translations)
    }

    /// The English texts of the codes and of the contract that have no text in a language: empty if an app has translated
    /// everything that it may come to show. For a test of the app's.
    public func untranslated(in language: Language) -> [String] {
        var seen: Set<String> = []
        return (definitions.map(\.message) + ContractText.all)
            .filter { !$0.exists(in: language, saying: translations) && seen.insert($0.table.key).inserted }
            .map(\.table.key)
    }
}
