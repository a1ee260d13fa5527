extension APIError {
    /// Returns this error of a sign-in as what it means to the user: wrong credentials, if the server says so in any way.
    ///
    /// A user who signs in has no session that could have expired. A 401 that names no other reason, and the codes of other servers for wrong
    /// credentials, become `AUTH_INVALID_CREDENTIALS`. `AccountClient.signIn` does this already; use it if the app signs in through an
    /// `APIClient`:
    ///
    /// ```swift
    /// do throws(APIError) {
    ///     tokens = try await api.post("/api/token/", credentials, context: "user_login")
    /// } catch {
    ///     shown = error.refusingSignIn().presentation(in: .spanish, now: .now)
    /// }
    /// ```
    /// - Returns: The error with the code and its recovery; an unchanged error if it means anything else. ``message`` stays.
    public func refusingSignIn() -> APIError {
        let isUnexplained = kind == .unauthorized && recovery == .signIn
        let isKnown =
            [.badRequest, .unauthorized, .forbidden, .notFound, .validation].contains(kind)
            && Self.wrongCredentials.contains(code.rawValue.lowercased())
        guard isUnexplained || isKnown else { return self }
        var refusal = self
        refusal.kind = .unauthorized
        refusal.code = .authInvalidCredentials
        refusal.retry = .never
        refusal.recovery = .fixFields
        return refusal
    }

    /// The codes of Supabase, OAuth 2, Firebase, Auth0, Parse and dj-rest-auth for wrong credentials, in lower case.
    private static let wrongCredentials: Set<String> = [
        "invalid_credentials", "invalid_grant", "invalid_login_credentials", "invalid_password", "email_not_found",
        "invalid_user_password", "wrong_email_or_password", "no_active_account", "user_not_found",
    ]
}
