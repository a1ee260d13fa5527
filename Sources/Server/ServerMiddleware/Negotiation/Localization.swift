public import ErrorContract
package import HTTPTypes
public import Hummingbird

/// Chooses the language of a response from the request's `Accept-Language`. If the client accepts no supported language, chooses the
/// default.
public struct Localization: Hashable, Sendable {
    /// The languages in which texts are available.
    public var supported: [Language]
    /// The language for clients that accept no supported language.
    public var fallback: Language

    /// Creates a rule.
    /// - Parameters:
    ///   - supported: The languages in which texts are available.
    ///   - fallback: The language for clients that accept no supported language.
    public init(supported: [Language] = Language.supported, fallback: Language = .english) {
        self.supported = supported
        self.fallback = fallback
    }

    /// Returns the language of the response to a request, by the qualities of `Accept-Language` (RFC 9110 §12.5.4).
    public func language(of request: Request) -> Language {
        LanguagePreference(acceptLanguage: request.headers.value(of: .acceptLanguage)).choose(from: supported, fallback: fallback)
    }
}

extension HTTPFields {
    /// Returns the value of a field, like the subscript of `HTTPFields`. If the field occurs once, this method is much faster, because the
    /// subscript always joins the values to a new text.
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
