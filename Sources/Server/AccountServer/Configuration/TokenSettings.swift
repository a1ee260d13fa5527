import Foundation

/// The names of the issuer and the audience in access tokens. Services that verify tokens compare these names.
///
/// Don't change a name while access tokens are valid: other services would refuse the tokens that have the old name.
public struct TokenSettings: Hashable, Sendable {
    /// The issuer (`iss`); `nil` for the address that links in emails begin with.
    public var issuer: String?
    /// The audience (`aud`); `nil` for the name of the app.
    public var audience: String?

    /// The largest size of the audience in bytes. The name of the app has the same limit, because it is the default audience.
    static let maximumAudience = 200

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
        audience = settings.text("TOKEN_AUDIENCE", maximumBytes: Self.maximumAudience)
    }
}
