import AccountContract
public import ErrorContract

/// An error with which a service of this module, such as ``Authentication``, refuses a request. Unlike a ``StoreFailure``, it occurs in
/// normal operation, so the server reports it to the client and doesn't log it.
public struct AccountError: Error, Hashable, Sendable {
    /// The code of the refusal in responses.
    public let code: ErrorCode
    /// The reasons for which a password was refused. The list is empty unless the code is `AUTH_WEAK_PASSWORD`.
    public var weaknesses: [PasswordPolicy.Weakness] = []
    /// A text for the user that is more specific than the standard text of the code; `nil` to show the standard text.
    public var message: LocalizedText?
    /// The delay after which the client should retry; `nil` if it is unknown.
    public var retryAfter: Duration?

    /// The address is taken.
    public static let emailExists = AccountError(code: .authEmailExists)
    /// The password is wrong, or the account doesn't exist. The error is the same in both cases, so it doesn't disclose whether the account
    /// exists.
    public static let invalidCredentials = AccountError(code: .authInvalidCredentials)
    /// The account is no longer in use.
    public static let inactive = AccountError(code: .authUserInactive)
    /// The operator suspended the account.
    public static let suspended = AccountError(code: .authUserSuspended)
    /// The user locked the account.
    public static let locked = AccountError(
        code: .authUserSuspended,
        message: LocalizedText(
            en: "This account is locked. Reset your password to use it again.",
            es: "Esta cuenta está congelada. Restablece tu contraseña para volver a usarla.",
            he: "החשבון הזה מוקפא. כדי להשתמש בו שוב, יש לאפס את הסיסמה.",
            pt: "Esta conta está congelada. Redefina sua senha para usá-la novamente.",
            fr: "Ce compte est gelé. Réinitialisez votre mot de passe pour l’utiliser à nouveau.",
            de: "Dieses Konto ist eingefroren. Setze dein Passwort zurück, um es wieder zu nutzen."
        )
    )
    /// The server requires a verified address, and the address of the account is not verified.
    public static let emailNotVerified = AccountError(code: .authEmailNotVerified)
    /// The server accepts no registrations.
    public static let registrationClosed = AccountError(code: .authRegistrationClosed)
    /// The user deleted the account, and its data is not removed yet.
    public static let deleted = AccountError(code: .authAccountDeleted)
    /// Returns the error for a sign-in to an account that is deleted, inactive, suspended or locked.
    static func outOfUse(_ account: Account) -> AccountError {
        switch account.state {
        case .active: account.purgeAt == nil ? inactive : deleted
        case .inactive: inactive
        case .suspended: suspended
        case .locked: locked
        }
    }

    /// The refresh token is unknown or was used before, or the account can't be used.
    public static let refreshFailed = AccountError(code: .authRefreshFailed)
    /// The session has ended.
    public static let sessionExpired = AccountError(code: .authSessionExpired)
    /// The access token has expired.
    public static let tokenExpired = AccountError(code: .authTokenExpired)
    /// This server didn't issue the access token, or has retired the key that signed it.
    public static let tokenInvalid = AccountError(code: .authTokenInvalid)
    /// The token of an emailed link is unknown, expired or used, or the link doesn't apply to the present state of the account.
    public static let resetTokenInvalid = AccountError(code: .authResetTokenInvalid)

    /// Returns the error for a password that is too weak.
    /// - Parameter weaknesses: The reasons, in the order of the policy. The text for the user describes the first reason.
    static func weakPassword(_ weaknesses: [PasswordPolicy.Weakness]) -> AccountError {
        AccountError(code: .authWeakPassword, weaknesses: weaknesses)
    }

    /// Returns the error for a request that was refused because too many passwords are being hashed.
    /// - Parameter retryAfter: The delay after which there will be capacity for the caller.
    static func busy(retryAfter: Duration) -> AccountError {
        AccountError(code: .serverServiceUnavailable, retryAfter: retryAfter)
    }
}

extension PasswordPolicy {
    /// Throws if a password is too weak.
    /// - Throws: ``AccountError`` with the code `AUTH_WEAK_PASSWORD`.
    func require(_ password: Password, email: EmailAddress?, firstName: FirstName?) throws(AccountError) {
        let weaknesses = weaknesses(of: password, email: email, firstName: firstName)
        guard weaknesses.isEmpty else { throw AccountError.weakPassword(weaknesses) }
    }
}
