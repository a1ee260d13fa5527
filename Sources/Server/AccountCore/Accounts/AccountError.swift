public import ErrorContract

/// A refusal of the account domain.
public struct AccountError: Error, Hashable, Sendable {
    /// The code that the refusal has on the wire.
    public let code: ErrorCode
    /// Why a password was refused, with the code `AUTH_WEAK_PASSWORD`.
    public var weaknesses: [PasswordPolicy.Weakness] = []
    /// A text that says more than the code's own.
    public var message: LocalizedText?
    /// When it makes sense to try again, if that is known.
    public var retryAfter: Duration?

    /// The address is taken.
    public static let emailExists = AccountError(code: .authEmailExists)
    /// Wrong password, or no such account: told apart by nobody.
    public static let invalidCredentials = AccountError(code: .authInvalidCredentials)
    /// The account is not in use any more.
    public static let inactive = AccountError(code: .authUserInactive)
    /// The account was taken out of use.
    public static let suspended = AccountError(code: .authUserSuspended)
    /// The account was frozen by its owner.
    public static let locked = AccountError(
        code: .authUserSuspended,
        message: LocalizedText(
            en: "This account is frozen. Reset your password to use it again.",
            es: "Esta cuenta está congelada. Restablece tu contraseña para volver a usarla.",
            he: "החשבון הזה מוקפא. כדי להשתמש בו שוב, יש לאפס את הסיסמה.",
            pt: "Esta conta está congelada. Redefina sua senha para usá-la novamente.",
            fr: "Ce compte est gelé. Réinitialisez votre mot de passe pour l’utiliser à nouveau.",
            de: "Dieses Konto ist eingefroren. Setze dein Passwort zurück, um es wieder zu nutzen."
        )
    )
    /// The refusal of an account that is out of use.
    static func outOfUse(_ state: Account.State) -> AccountError {
        switch state {
        case .active, .inactive: inactive
        case .suspended: suspended
        case .locked: locked
        }
    }

    /// The refresh token is unknown, or was used before.
    public static let refreshFailed = AccountError(code: .authRefreshFailed)
    /// The session has ended.
    public static let sessionExpired = AccountError(code: .authSessionExpired)
    /// The access token has run out.
    public static let tokenExpired = AccountError(code: .authTokenExpired)
    /// The access token is not one of ours.
    public static let tokenInvalid = AccountError(code: .authTokenInvalid)
    /// The reset token is unknown, expired or used.
    public static let resetTokenInvalid = AccountError(code: .authResetTokenInvalid)

    /// The password is too weak.
    static func weakPassword(_ weaknesses: [PasswordPolicy.Weakness]) -> AccountError {
        AccountError(code: .authWeakPassword, weaknesses: weaknesses)
    }

    /// Too many passwords are being hashed already.
    static func busy(retryAfter: Duration) -> AccountError {
        AccountError(code: .serverServiceUnavailable, retryAfter: retryAfter)
    }
}
