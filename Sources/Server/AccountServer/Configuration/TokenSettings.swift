import Foundation

/// The names of the issuer and the audience in access tokens. Services that verify tokens compare these names.
///
/// Don't change a name while access tokens are valid: other services would refuse the tokens that have the old name.
public struct TokenSettings: Hashable, Sendable {
    /// The issuer (`iss`); `nil` for the address that links in emails begin with.
    public var issuer: String?
    /// The audience (`aud`); `nil` for the name of the app.
    public var audience: String?

    /// Creates the default settings.
    public init() {}

    /// Reads `TOKEN_ISSUER` and `TOKEN_AUDIENCE`.
    /// - Parameters:
    ///   - settings: The reader, which collects the problems.
    ///   - isProduction: Whether the issuer must be an https address.
    init(_ settings: inout SettingReader, isProduction: Bool) {
        if let url = settings.webAddress("TOKEN_ISSUER") {
            issuer = settings.text("TOKEN_ISSUER")
            if isProduction, url.scheme != "https" {
                settings.refuse("TOKEN_ISSUER", "must begin with https:// in production (is “\(url)”)")
            }
        }
        audience = settings.text("TOKEN_AUDIENCE")
        if let audience, audience.utf8.count > 200 {
            settings.refuse("TOKEN_AUDIENCE", "must have at most 200 bytes (has \(audience.utf8.count))")
        }
    }
}
