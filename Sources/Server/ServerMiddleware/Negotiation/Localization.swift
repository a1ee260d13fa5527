public import ErrorContract
package import HTTPTypes
public import Hummingbird

/// How the language of an answer is found: by the request's `Accept-Language`, else the server's default.
public struct Localization: Hashable, Sendable {
    /// The languages that there are texts in.
    public var supported: [Language]
    /// The language for readers that ask for none of them.
    public var fallback: Language

    /// Creates a rule.
    public init(supported: [Language] = Language.supported, fallback: Language = .english) {
        self.supported = supported
        self.fallback = fallback
    }

    /// The language to answer a request in.
    public func language(of request: Request) -> Language {
        LanguagePreference(acceptLanguage: request.headers.value(of: .acceptLanguage)).choose(from: supported, fallback: fallback)
    }
}

extension HTTPFields {
    /// Returns the value of a field, as the subscript does. The subscript joins values also where there is one, which takes several
    /// times as long as all that most middleware does.
    package func value(of name: HTTPField.Name) -> String? {
        guard contains(name) else { return nil }
        var value: String?
        for field in self where field.name == name {
            guard value == nil else { return self[name] }
            value = field.value
        }
        return value
    }
}
