/// Where the account API lives. Each path is answered with and without a trailing slash.
public enum AccountPath {
    public static let register = "/api/auth/register"
    public static let login = "/api/auth/login"
    public static let refresh = "/api/auth/refresh"
    public static let logout = "/api/auth/logout"
    public static let me = "/api/auth/me"
    public static let requestPasswordReset = "/api/request-password-reset/"
    public static let validateResetToken = "/api/validate-reset-token/"
    public static let confirmPasswordReset = "/api/confirm-password-reset/"
    /// What apps in the field call to ask for a reset; wrapped and flat at once.
    public static let legacyPasswordReset = "/reset_password/"
}
