extension ErrorCode {
    /// Invalid email or password provided during login. Status 401.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned to a sign-in if the address has no account or the password is wrong. In both cases, the server sends the same response
    /// after the same time. A client must not refresh or end a session because of this error, and must not send the same password again.
    public static let authInvalidCredentials = Self("AUTH_INVALID_CREDENTIALS")
    /// Access token has expired and needs refresh. Status 401.
    ///
    /// The client refreshes the session and retries once; the user signs in again.
    ///
    /// Returned if an access token has expired but is otherwise valid. Refresh the session once for all concurrent calls, and repeat each
    /// call once. Ask the user to sign in only if the server refuses the refresh. If this error follows directly after a refresh, check the
    /// device's clock.
    public static let authTokenExpired = Self("AUTH_TOKEN_EXPIRED")
    /// Token is malformed or invalid. Status 401.
    ///
    /// The client refreshes the session or the user signs in. Then the client retries once.
    ///
    /// Returned if an access token can't be decoded or has a wrong signature. If the client has a refresh token, refresh the session.
    /// Otherwise ask the user to sign in. If the server refuses the new token with the same error, don't refresh again.
    public static let authTokenInvalid = Self("AUTH_TOKEN_INVALID")
    /// Authorization token not provided in request. Status 401.
    ///
    /// The client refreshes the session or the user signs in. Then the client retries once.
    ///
    /// Returned if a route that requires a session is called without an `Authorization` header. Check whether the call was made before
    /// the user signed in, and whether a redirect removed the header.
    public static let authTokenMissing = Self("AUTH_TOKEN_MISSING")
    /// Session has expired due to inactivity. Status 401.
    ///
    /// The client removes the credentials, and the user signs in again.
    ///
    /// Returned if the session has ended. A session ends if it is not used for too long, or after its maximum lifetime. A password reset, a
    /// lock of the account or a sign-out on another device also ends it. A client removes its credentials and asks the user to sign in. It
    /// must not refresh the session.
    public static let authSessionExpired = Self("AUTH_SESSION_EXPIRED")
    /// User account does not exist. Status 404.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned only to callers who are allowed to know which accounts exist, such as an administrator. Sign-in and password reset never
    /// return this code, because the code would reveal that an address has no account.
    public static let authUserNotFound = Self("AUTH_USER_NOT_FOUND")
    /// User account is inactive or deactivated. Status 403.
    ///
    /// The client does not retry; the user contacts support.
    ///
    /// Returned if the password is right but the account is no longer in use. If the password is wrong, the server does not return this
    /// code, because the code would reveal that the account exists. Only support can reactivate the account, so a client does not repeat
    /// the call.
    public static let authUserInactive = Self("AUTH_USER_INACTIVE")
    /// User account is suspended. Status 403.
    ///
    /// The client does not retry; the user contacts support.
    ///
    /// Returned if the password is right, but the operator has suspended the account or the owner has locked it. If the owner locked the
    /// account, a password reset unlocks it. The message of the response explains this, so show the message instead of your own text.
    public static let authUserSuspended = Self("AUTH_USER_SUSPENDED")
    /// Email address already registered. Status 400.
    ///
    /// The client does not retry; the user signs in again.
    ///
    /// Returned to a registration if the address already has an account. The comparison ignores the case of letters. The response reveals
    /// that the account exists, so limit the number of registration requests. A client offers to sign in or to reset the password, and
    /// fills in the address.
    public static let authEmailExists = Self("AUTH_EMAIL_EXISTS")
    /// Password does not meet requirements. Status 400.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a new password violates the server's policy. `details.reasons` lists the violated rules. A reset link stays usable after
    /// this error. A client can check the rules before it sends the password, but the server decides.
    public static let authWeakPassword = Self("AUTH_WEAK_PASSWORD")
    /// Failed to refresh access token. Status 401.
    ///
    /// The client removes the credentials, and the user signs in again.
    ///
    /// Returned if a refresh token is unknown or was used before. The second use of a refresh token ends the session with all its tokens,
    /// because an attacker may have a copy. A client removes its credentials and asks the user to sign in. It must not send the same token
    /// again.
    public static let authRefreshFailed = Self("AUTH_REFRESH_FAILED")
    /// Device not registered for push notifications. Status 400.
    ///
    /// The client does not retry; the user changes the settings.
    ///
    /// Returned if a notification is requested for a device that has not registered its push token. Register the device, then repeat the
    /// call.
    public static let authDeviceNotRegistered = Self("AUTH_DEVICE_NOT_REGISTERED")
    /// OAuth authentication failed. Status 500.
    ///
    /// The client does not retry; the user may retry.
    ///
    /// Returned if a sign-in provider refused the exchange or could not be reached. The server's log contains the provider's error. The
    /// authorization code of the provider works only once. So start the sign-in again instead of repeating the call.
    public static let authOAuthFailed = Self("AUTH_OAUTH_FAILED")
    /// User canceled OAuth flow. Status 400.
    ///
    /// The client does not retry.
    ///
    /// Returned if the user closed the provider's page or declined there. This is not a failure, so don't show an error. Open the page
    /// again only if the user requests it.
    public static let authOAuthCancelled = Self("AUTH_OAUTH_CANCELLED")
    /// Reset link is unknown, expired or already used. Status 400.
    ///
    /// The client does not retry; the user requests a new link.
    ///
    /// Returned if a reset link is unknown, expired or used. The server sends the same response in all cases. The error does not concern
    /// the session, so a client must not sign the user out. The client offers to send a new link.
    public static let authResetTokenInvalid = Self("AUTH_RESET_TOKEN_INVALID")
    /// Email address of the account is not verified. Status 403.
    ///
    /// The client does not retry; the user opens the link in the email.
    ///
    /// Returned if the password is right, the server requires a verified address, and the address of the account is not verified. If the
    /// password is wrong, the server does not return this code, because the code would reveal that the account exists. A client offers to
    /// send the link again.
    public static let authEmailNotVerified = Self("AUTH_EMAIL_NOT_VERIFIED")
    /// Registration is closed. Status 403.
    ///
    /// The client does not retry.
    ///
    /// Returned to every registration if only the operator of the server can add accounts. A client hides its registration screen.
    public static let authRegistrationClosed = Self("AUTH_REGISTRATION_CLOSED")
    /// Account was deleted by its user. Status 403.
    ///
    /// The client does not retry; the user opens the link in the email.
    ///
    /// Returned to a sign-in with the right password, if the user has deleted the account and the server has not yet removed the account's
    /// data. If the password is wrong, the server does not return this code, because the code would reveal that the account exists. The
    /// link in the email about the deletion restores the account.
    public static let authAccountDeleted = Self("AUTH_ACCOUNT_DELETED")
}

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
                es: "Correo o contraseña incorrectos",
                he: "האימייל או הסיסמה שגויים",
                pt: "E-mail ou senha incorretos",
                fr: "Adresse e-mail ou mot de passe incorrect",
                de: "E-Mail-Adresse oder Passwort falsch"
            ),
            documentation: """
                Returned to a sign-in if the address has no account or the password is wrong; the responses are the same in \
                both cases, and take the same time. A client must not refresh or end a session because of this error, and must \
                not send the same password again.
                """
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
                es: "Tu sesión ha expirado. Por favor, inicia sesión de nuevo.",
                he: "תוקף החיבור שלך פג. נא להתחבר שוב.",
                pt: "Sua sessão expirou. Por favor, entre novamente.",
                fr: "Votre session a expiré. Veuillez vous reconnecter.",
                de: "Deine Sitzung ist abgelaufen. Bitte melde dich erneut an."
            ),
            documentation: """
                Returned if an access token is valid but has expired. Refresh once for all calls together, and repeat each \
                call once; request a sign-in only if the refresh is refused. If this error follows directly after a refresh, \
                check the device's clock.
                """
        ),
        ErrorDefinition(
            .authTokenInvalid,
            family: .authentication,
            status: 401,
            summary: "Token is malformed or invalid",
            userAction: "Re-authenticate to get new token",
            retry: .afterRefreshOrSignIn,
            recovery: .signIn,
            message: ContractText.sessionExpired,
            documentation: """
                Returned if an access token can't be decoded or has a wrong signature. Refresh if there is a refresh token; \
                otherwise request a sign-in. If the new token gets the same error, don't refresh again.
                """
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
                es: "Por favor, inicia sesión para continuar.",
                he: "נא להתחבר כדי להמשיך.",
                pt: "Por favor, entre para continuar.",
                fr: "Veuillez vous connecter pour continuer.",
                de: "Bitte melde dich an, um fortzufahren."
            ),
            documentation: """
                Returned if a route that requires a session is called without an Authorization header. Check whether the call \
                was made before the user signed in, and whether a redirect removed the header.
                """
        ),
        ErrorDefinition(
            .authSessionExpired,
            family: .authentication,
            status: 401,
            summary: "Session has expired due to inactivity",
            userAction: "Log in again",
            retry: .afterSignIn,
            recovery: .signIn,
            message: ContractText.sessionExpired,
            documentation: """
                Returned if the session has ended: after too long without use, after its maximum lifetime, or because of a \
                reset, a lock of the account or a sign-out on another device. A client removes its credentials and requests a \
                sign-in; it must not refresh.
                """
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
                es: "No encontramos esta cuenta.",
                he: "לא מצאנו את החשבון הזה.",
                pt: "Não encontramos esta conta.",
                fr: "Nous n’avons pas trouvé ce compte.",
                de: "Wir konnten dieses Konto nicht finden."
            ),
            documentation: """
                Returned only to callers who may know which accounts exist, such as an administrator. Sign-in and password \
                reset never return it, because it reveals whether an address has an account.
                """,
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
                es: "Esta cuenta no está activa. Por favor, contacta a soporte.",
                he: "החשבון הזה אינו פעיל. נא לפנות לתמיכה.",
                pt: "Esta conta não está ativa. Por favor, entre em contato com o suporte.",
                fr: "Ce compte n’est pas actif. Veuillez contacter l’assistance.",
                de: "Dieses Konto ist nicht aktiv. Bitte wende dich an den Support."
            ),
            documentation: """
                Returned if the password is right but the account is no longer in use; with a wrong password it is not \
                returned, because it reveals that the account exists. Only support can reactivate the account, so a client \
                does not repeat the call.
                """,
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
                es: "Esta cuenta está suspendida. Por favor, contacta a soporte.",
                he: "החשבון הזה מושעה. נא לפנות לתמיכה.",
                pt: "Esta conta está suspensa. Por favor, entre em contato com o suporte.",
                fr: "Ce compte est suspendu. Veuillez contacter l’assistance.",
                de: "Dieses Konto ist gesperrt. Bitte wende dich an den Support."
            ),
            documentation: """
                Returned if the password is right but the account was suspended, or was locked by its owner. A password reset \
                unlocks an account that its owner locked. The message of the response contains this information, so show it \
                instead of your own text.
                """,
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
                es: "Este correo ya está registrado. Inicia sesión o usa otro.",
                he: "כתובת האימייל הזו כבר רשומה. אפשר להתחבר או להשתמש בכתובת אחרת.",
                pt: "Este e-mail já está cadastrado. Entre ou use outro.",
                fr: "Cette adresse e-mail est déjà enregistrée. Connectez-vous ou utilisez-en une autre.",
                de: "Diese E-Mail-Adresse ist bereits registriert. Melde dich an oder verwende eine andere."
            ),
            documentation: """
                Returned to a registration if the address has an account; upper and lower case are not distinguished. It \
                reveals that the account exists, so limit the number of such requests. A client offers to sign in or to reset \
                the password, with the address filled in.
                """,
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
                es: "La contraseña es demasiado débil. Por favor, elige una más segura.",
                he: "הסיסמה חלשה מדי. נא לבחור סיסמה חזקה יותר.",
                pt: "A senha é muito fraca. Por favor, escolha uma mais forte.",
                fr: "Le mot de passe est trop faible. Veuillez en choisir un plus sûr.",
                de: "Das Passwort ist zu schwach. Bitte wähle ein stärkeres."
            ),
            documentation: """
                Returned if a new password violates the server's policy; details.reasons lists the violated rules. A reset \
                link stays usable. A client can check the rules before it sends the password, but the server decides.
                """
        ),
        ErrorDefinition(
            .authRefreshFailed,
            family: .authentication,
            status: 401,
            summary: "Failed to refresh access token",
            userAction: "Re-authenticate with credentials",
            retry: .afterSignIn,
            recovery: .signIn,
            message: ContractText.sessionExpired,
            documentation: """
                Returned if a refresh token is unknown or was used before; a second use ends the session with all its tokens, \
                because two parties may have the token. A client removes its credentials and requests a sign-in, and must not \
                send the same token again.
                """
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
                es: "Este dispositivo no está registrado para recibir notificaciones.",
                he: "המכשיר הזה אינו רשום לקבלת התראות.",
                pt: "Este dispositivo não está registrado para receber notificações.",
                fr: "Cet appareil n’est pas enregistré pour recevoir des notifications.",
                de: "Dieses Gerät ist nicht für Benachrichtigungen registriert."
            ),
            documentation: """
                Returned if a notification is requested for a device that has not sent its push token. Register the device, \
                then repeat the call.
                """
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
                es: "No pudimos iniciar sesión con ese proveedor. Por favor, intenta de nuevo.",
                he: "לא הצלחנו לחבר אותך דרך הספק הזה. נא לנסות שוב.",
                pt: "Não foi possível entrar com esse provedor. Por favor, tente novamente.",
                fr: "La connexion avec ce fournisseur a échoué. Veuillez réessayer.",
                de: "Die Anmeldung über diesen Anbieter ist fehlgeschlagen. Bitte versuche es erneut."
            ),
            documentation: """
                Returned if a sign-in provider refused the exchange or could not be reached. The server's log contains the \
                provider's error. A code of the provider works once, so start the sign-in again instead of repeating the call.
                """
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
                es: "El inicio de sesión fue cancelado.",
                he: "ההתחברות בוטלה.",
                pt: "O login foi cancelado.",
                fr: "La connexion a été annulée.",
                de: "Die Anmeldung wurde abgebrochen."
            ),
            documentation: """
                Returned if the user closed the provider's page or declined there. This is not a failure: don't report it as \
                one, and don't open the page again unless the user requests it.
                """
        ),
        ErrorDefinition(
            .authResetTokenInvalid,
            family: .authentication,
            status: 400,
            summary: "Reset link is unknown, expired or already used",
            userAction: "Request a new link",
            recovery: .requestNewLink,
            message: ContractText.tokenInvalid,
            documentation: """
                Returned if a reset link is unknown, expired or used; the response is the same in all cases. It differs from \
                the codes of sessions, so that a client does not sign the user out. The client offers to send a new link.
                """
        ),
        ErrorDefinition(
            .authEmailNotVerified,
            family: .authentication,
            status: 403,
            summary: "Email address of the account is not verified",
            userAction: "Open the link in the verification email",
            recovery: .dismiss,
            message: LocalizedText(
                en: "Verify your email to sign in.",
                es: "Verifica tu correo para iniciar sesión.",
                he: "כדי להתחבר, יש לאמת את כתובת האימייל.",
                pt: "Verifique seu e-mail para entrar.",
                fr: "Vérifiez votre adresse e-mail pour vous connecter.",
                de: "Bestätige deine E-Mail-Adresse, um dich anzumelden."
            ),
            documentation: """
                Returned if the password is right, the server requires a verified address, and the address of the account is not \
                verified. With a wrong password it is not returned, because it reveals that the account exists. A client offers to \
                send the link again.
                """,
            since: "1.1",
            mayRevealAccount: true
        ),
        ErrorDefinition(
            .authRegistrationClosed,
            family: .authentication,
            status: 403,
            summary: "Registration is closed",
            userAction: "Contact the operator to get an account",
            recovery: .dismiss,
            message: LocalizedText(
                en: "Registration is closed.",
                es: "El registro está cerrado.",
                he: "ההרשמה סגורה.",
                pt: "O cadastro está fechado.",
                fr: "Les inscriptions sont fermées.",
                de: "Die Registrierung ist geschlossen."
            ),
            documentation: """
                Returned to every registration if the operator adds accounts. A client hides the registration.
                """,
            since: "1.1"
        ),
        ErrorDefinition(
            .authAccountDeleted,
            family: .authentication,
            status: 403,
            summary: "Account was deleted by its user",
            userAction: "Open the link in the email about the deletion",
            recovery: .dismiss,
            message: LocalizedText(
                en: "This account was deleted. Use the link in your email to restore it.",
                es: "Esta cuenta fue eliminada. Usa el enlace de tu correo para recuperarla.",
                he: "החשבון הזה נמחק. אפשר לשחזר אותו בעזרת הקישור שנשלח באימייל.",
                pt: "Esta conta foi excluída. Use o link no seu e-mail para recuperá-la.",
                fr: "Ce compte a été supprimé. Utilisez le lien reçu par e-mail pour le restaurer.",
                de: "Dieses Konto wurde gelöscht. Mit dem Link in deiner E-Mail kannst du es wiederherstellen."
            ),
            documentation: """
                Returned if the password is right, and the account was deleted but its data is not removed yet. With a wrong \
                password it is not returned, because it reveals that the account exists. The link in the email about the deletion \
                restores the account.
                """,
            since: "1.1",
            mayRevealAccount: true
        ),
    ]
}
