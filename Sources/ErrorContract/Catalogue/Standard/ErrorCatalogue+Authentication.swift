extension ErrorCatalogue {
    /// Credentials, sessions and accounts.
    static let authentication: [ErrorDefinition] = [
        ErrorDefinition(
            .authInvalidCredentials,
            family: .authentication,
            status: 401,
            summary: "Invalid email or password provided during login",
            userAction: "Check credentials and try again",
            recovery: .fixFields,
            message: LocalizedText(
                en: "Invalid email or password",
                es: "Correo o contraseña incorrectos"
            )
        ),
        ErrorDefinition(
            .authTokenExpired,
            family: .authentication,
            status: 401,
            summary: "Access token has expired and needs refresh",
            userAction: "Request token refresh using refresh token",
            retry: .afterRefresh,
            recovery: .signIn,
            message: LocalizedText(
                en: "Your session has expired. Please sign in again.",
                es: "Tu sesión ha expirado. Por favor, inicia sesión de nuevo."
            )
        ),
        ErrorDefinition(
            .authTokenInvalid,
            family: .authentication,
            status: 401,
            summary: "Token is malformed or invalid",
            userAction: "Re-authenticate to get new token",
            retry: .afterRefreshOrSignIn,
            recovery: .signIn,
            message: LocalizedText(
                en: "Please sign in again.",
                es: "Por favor, inicia sesión de nuevo."
            )
        ),
        ErrorDefinition(
            .authTokenMissing,
            family: .authentication,
            status: 401,
            summary: "Authorization token not provided in request",
            userAction: "Include valid token in Authorization header",
            retry: .afterRefreshOrSignIn,
            recovery: .signIn,
            message: LocalizedText(
                en: "Please sign in to continue.",
                es: "Por favor, inicia sesión para continuar."
            )
        ),
        ErrorDefinition(
            .authSessionExpired,
            family: .authentication,
            status: 401,
            summary: "Session has expired due to inactivity",
            userAction: "Log in again",
            retry: .afterSignIn,
            recovery: .signIn,
            message: LocalizedText(
                en: "Please sign in again.",
                es: "Por favor, inicia sesión de nuevo."
            )
        ),
        ErrorDefinition(
            .authUserNotFound,
            family: .authentication,
            status: 404,
            summary: "User account does not exist",
            userAction: "Verify email or create new account",
            recovery: .fixFields,
            message: LocalizedText(
                en: "We could not find this account.",
                es: "No encontramos esta cuenta."
            ),
            mayRevealAccount: true
        ),
        ErrorDefinition(
            .authUserInactive,
            family: .authentication,
            status: 403,
            summary: "User account is inactive or deactivated",
            userAction: "Contact support to reactivate account",
            recovery: .contactSupport,
            message: LocalizedText(
                en: "This account is not active. Please contact support.",
                es: "Esta cuenta no está activa. Por favor, contacta a soporte."
            ),
            mayRevealAccount: true
        ),
        ErrorDefinition(
            .authUserSuspended,
            family: .authentication,
            status: 403,
            summary: "User account is suspended",
            userAction: "Contact support",
            recovery: .contactSupport,
            message: LocalizedText(
                en: "This account is suspended. Please contact support.",
                es: "Esta cuenta está suspendida. Por favor, contacta a soporte."
            ),
            mayRevealAccount: true
        ),
        ErrorDefinition(
            .authEmailExists,
            family: .authentication,
            status: 400,
            summary: "Email address already registered",
            userAction: "Use different email or log in with existing account",
            recovery: .signIn,
            message: LocalizedText(
                en: "This email is already registered. Sign in or use another one.",
                es: "Este correo ya está registrado. Inicia sesión o usa otro."
            ),
            mayRevealAccount: true
        ),
        ErrorDefinition(
            .authWeakPassword,
            family: .authentication,
            status: 400,
            summary: "Password does not meet requirements",
            userAction: "Use stronger password (8+ characters)",
            recovery: .fixFields,
            message: LocalizedText(
                en: "The password is too weak. Please choose a stronger one.",
                es: "La contraseña es demasiado débil. Por favor, elige una más segura."
            )
        ),
        ErrorDefinition(
            .authRefreshFailed,
            family: .authentication,
            status: 401,
            summary: "Failed to refresh access token",
            userAction: "Re-authenticate with credentials",
            retry: .afterSignIn,
            recovery: .signIn,
            message: LocalizedText(
                en: "Please sign in again.",
                es: "Por favor, inicia sesión de nuevo."
            )
        ),
        ErrorDefinition(
            .authDeviceNotRegistered,
            family: .authentication,
            status: 400,
            summary: "Device not registered for push notifications",
            userAction: "Register device first",
            recovery: .openSettings,
            message: LocalizedText(
                en: "This device is not registered for notifications.",
                es: "Este dispositivo no está registrado para recibir notificaciones."
            )
        ),
        ErrorDefinition(
            .authOAuthFailed,
            family: .authentication,
            status: 500,
            summary: "OAuth authentication failed",
            userAction: "Try reconnecting or contact support",
            recovery: .retry,
            message: LocalizedText(
                en: "We could not sign you in with that provider. Please try again.",
                es: "No pudimos iniciar sesión con ese proveedor. Por favor, intenta de nuevo."
            )
        ),
        ErrorDefinition(
            .authOAuthCancelled,
            family: .authentication,
            status: 400,
            summary: "User cancelled OAuth flow",
            userAction: "Restart OAuth flow if needed",
            recovery: .dismiss,
            message: LocalizedText(
                en: "Sign-in was cancelled.",
                es: "El inicio de sesión fue cancelado."
            )
        ),
        ErrorDefinition(
            .authResetTokenInvalid,
            family: .authentication,
            status: 400,
            summary: "Reset link is unknown, expired or already used",
            userAction: "Request a new link",
            recovery: .requestNewLink,
            message: LocalizedText(
                en: "Invalid or expired token",
                es: "Token inválido o expirado"
            )
        ),
    ]
}
