/// The error codes that a server or a client knows, with their definitions. A server builds error responses from the definitions, and a
/// client takes texts and retry rules from them.
///
/// The ``standard`` catalogue is append-only: a code never changes its status or meaning. An app or a server adds its own codes with
/// ``adding(_:)``.
///
/// ```swift
/// let catalogue = try ErrorCatalogue.standard.adding([
///     ErrorDefinition(
///         ErrorCode("PAYMENT_DECLINED"),
///         family: ErrorFamily(rawValue: "PAYMENT"),
///         status: 402,
///         summary: "The card was declined",
///         userAction: "Use another card",
///         message: LocalizedText(en: "Card declined", es: "Tarjeta rechazada")
///     )
/// ])
/// ```
///
/// Pass the catalogue to the client (`APIClient`). The client's errors then use the texts and retry classes of the catalogue. A newer
/// server can send codes that the client doesn't know. For an unknown code, the client uses the definition of the longest known prefix of
/// the code. If the catalogue has no such prefix, the client uses the status of the response.
///
/// A catalogue is a value type. Its copies share one index, so a copy is cheap and a lookup takes O(1).
public struct ErrorCatalogue: Sendable {
    /// All definitions, in the order in which they were added.
    public let definitions: [ErrorDefinition]
    /// The app's own translations of the texts in this library.
    public internal(set) var translations = Translations()
    /// The positions of the definitions by code.
    private let index: [ErrorCode: Int]

    /// The codes that this library defines. Servers and clients of the library share them.
    public static let standard = ErrorCatalogue(
        unique: authentication + validation + rateLimit + server + resource + apiKey + social + content + request
    )

    /// Creates a catalogue. Traps if a code occurs twice.
    private init(unique definitions: [ErrorDefinition]) {
        self.definitions = definitions
        self.index = Dictionary(uniqueKeysWithValues: definitions.enumerated().map { ($1.code, $0) })
    }

    /// Returns a catalogue with additional codes at the end, and with the same translations.
    ///
    /// - Parameter additions: The definitions, with codes that the catalogue doesn't contain.
    /// - Throws: ``DuplicateErrorCode`` if the catalogue already contains a code, or if a code is given twice.
    /// - Complexity: O(number of codes).
    public func adding(_ additions: [ErrorDefinition]) throws(DuplicateErrorCode) -> ErrorCatalogue {
        var known = Set(index.keys)
        for addition in additions where !known.insert(addition.code).inserted {
            throw DuplicateErrorCode(code: addition.code)
        }
        var sum = ErrorCatalogue(unique: definitions + additions)
        sum.translations = translations
        return sum
    }

    /// The definition of a code; `nil` if the catalogue doesn't contain the code. For a code from a response, use
    /// ``closestDefinition(to:)``, because the server can be newer than the catalogue.
    /// - Complexity: O(1).
    public subscript(code: ErrorCode) -> ErrorDefinition? {
        index[code].map { definitions[$0] }
    }

    /// Returns the definition of a code, or the best definition for an unknown code.
    ///
    /// For an unknown code, the method removes the last underscore and the text after it. It repeats this step until the catalogue contains
    /// the rest. For example, `API_KEY_INVALID_REGION` uses the definition of `API_KEY_INVALID`.
    ///
    /// - Parameter code: The code of a response.
    /// - Returns: The definition; `nil` if neither the code nor a prefix is known.
    /// - Complexity: O(length of the code).
    public func closestDefinition(to code: ErrorCode) -> ErrorDefinition? {
        if let exact = self[code] { return exact }
        var prefix = Substring(code.rawValue)
        while let underscore = prefix.lastIndex(of: "_") {
            prefix = prefix[..<underscore]
            if let found = self[ErrorCode(String(prefix))] { return found }
        }
        return nil
    }

    /// Returns how a client may retry after a response.
    ///
    /// The method uses the definition of the code or of its longest known prefix. If there is no such definition, the method uses the
    /// family of the code. If the family is also unknown, the method uses the status.
    ///
    /// - Parameters:
    ///   - code: The code that the server sent; `nil` if it sent none.
    ///   - status: The HTTP status.
    /// - Returns: The retry class. Without a definition, the client may retry after codes that begin with `RATE_LIMIT_` or `SERVER_`, but
    ///   not after codes of the other standard families. Other servers send `QUOTA_EXCEEDED` or `insufficient_quota` if a quota is used up.
    ///   After these codes, the client may retry only if the server sent a delay.
    public func retryClass(of code: ErrorCode?, status: Int) -> RetryClass {
        guard let code else { return Self.retryClass(ofStatus: status) }
        if let definition = closestDefinition(to: code) { return definition.retry }
        switch code.rawValue {
        case let text where text.hasPrefix("RATE_LIMIT_"): return .afterDelay
        case let text where text.hasPrefix("SERVER_"): return .withBackoff
        // Other servers send these codes if a quota is used up. Such a quota is usually not renewed soon.
        case "QUOTA_EXCEEDED", "insufficient_quota": return .onlyAfterNamedDelay
        case let text where Self.families.contains { text.hasPrefix($0 + "_") }: return .never
        default: return Self.retryClass(ofStatus: status)
        }
    }

    /// The prefixes of the standard families.
    private static let families = Set(standard.definitions.map(\.family.rawValue))

    /// Returns the retry class of a response whose code is missing or unknown.
    private static func retryClass(ofStatus status: Int) -> RetryClass {
        switch status {
        case 401: .afterRefreshOrSignIn
        case 429: .afterDelay
        case 408, 500...599: .withBackoff
        default: .never
        }
    }
}

/// The error that ``ErrorCatalogue/adding(_:)`` throws if the catalogue already contains an added code, or if a code is given twice.
///
/// Choose another code: a published code never changes its meaning. To change only the text of a code, use ``ErrorCatalogue/saying(_:)``.
public struct DuplicateErrorCode: Error, Hashable, CustomStringConvertible {
    /// The duplicate code.
    public let code: ErrorCode

    /// A description for a log.
    public var description: String { "the catalogue has \(code) already" }
}

extension ErrorCatalogue {
    /// Returns a catalogue with the same codes and an app's own translations. These translations take precedence over the library's texts.
    ///
    /// ``APIError/presentation(in:now:catalogue:)`` and the screens of `AccountKit` use the translations. A server uses the translations if
    /// the app passes this catalogue to the server's error renderer.
    /// - Parameter translations: The translations. The method adds them to the translations that the catalogue already has. If a text has
    ///   an old and a new translation, the new translation applies.
    public func saying(_ translations: Translations) -> ErrorCatalogue {
        var speaking = self
        speaking.translations = self.translations.adding(translations)
        return speaking
    }

    /// Returns a text in a language, using the app's own translation if there is one.
    /// - Parameters:
    ///   - text: A text of the library or of the app.
    ///   - language: The language of the user; see ``LocalizedText/text(in:)`` for the fallback.
    public func text(_ text: LocalizedText, in language: Language) -> String {
        text.text(in: language, saying: translations)
    }

    /// Returns the English version of each text that has no translation in a language. The method checks the texts of all codes in the
    /// catalogue and all other texts of the library.
    ///
    /// Use this method in a test. The result is empty if the app has translated all texts that it can show.
    /// - Parameter language: A language of the app. A text also counts as translated if it exists for a shorter tag, such as `pt` for
    ///   `pt-br`.
    public func untranslated(in language: Language) -> [String] {
        var seen: Set<String> = []
        return (definitions.map(\.message) + ContractText.all)
            .filter { !$0.exists(in: language, saying: translations) && seen.insert($0.table.key).inserted }
            .map(\.table.key)
    }
}
