/// Where the account API lives. Each path is answered with and without a trailing slash.
public enum AccountPath {
    /// Creates an account.
    public static let register = "/api/auth/register"
    /// Signs in.
    public static let login = "/api/auth/login"
    /// Continues a session.
    public static let refresh = "/api/auth/refresh"
    /// Ends a session.
    public static let logout = "/api/auth/logout"
    /// Tells the signed-in account.
    public static let me = "/api/auth/me"
    /// Asks for a reset link by mail.
    public static let requestPasswordReset = "/api/request-password-reset/"
    /// Looks whether a link may still be used.
    public static let validateResetToken = "/api/validate-reset-token/"
    /// Sets a new password by a link.
    public static let confirmPasswordReset = "/api/confirm-password-reset/"
    /// What apps in the field call to ask for a reset; wrapped and flat at once.
    public static let legacyPasswordReset = "/reset_password/"
}
