import HTTPTypes
import Timekeeping

/// Chooses the text for an error.
extension APIError {
    /// Whether the error can mean that the user's session has ended.
    ///
    /// A 401 to a request without credentials doesn't concern a session. The codes ``ErrorCode/authSessionExpired`` and
    /// ``ErrorCode/authRefreshFailed`` are exceptions, because the server sends them only if the body of the request contained a refresh
    /// token.
    var isSessionExpired: Bool {
        guard kind == .unauthorized, recovery == .signIn else { return false }
        return sentCredentials != false || code == .authSessionExpired || code == .authRefreshFailed
    }

    /// Returns the text of the error in a language. If ``presentationText`` is set, the method returns it. Otherwise, it returns the first
    /// text of this list that exists:
    ///
    /// 1. The library's text for the kind, if the API sent no error response or the server failed (``Kind/server``).
    /// 2. The catalogue's text for the code.
    /// 3. The server's text, if it is in that language.
    /// 4. The text of the closest known code.
    /// 5. The library's text for the first field violation of a known kind.
    /// 6. The library's general text for the kind.
    func text(in language: Language, catalogue: ErrorCatalogue) -> String {
        let say = { (text: LocalizedText) in catalogue.text(text, in: language) }
        if let presentationText { return say(presentationText) }
        switch kind {
        case .network, .noInternet, .timeout, .unknownOutcome: return say(ContractText.network)
        // The gate delays calls after the server sent a 429, so the text is the same as for a 429. In the next case, a quota of the app
        // refused the call.
        case .throttled where hold?.source == .gate: return say(ContractText.limited(wait: retryAfter))
        case .throttled: return say(ContractText.throttled(wait: retryAfter))
        case .unavailable: return say(ContractText.unavailable(wait: retryAfter))
        case .decoding, .notAPI, .invalidRequest, .cancelled: return say(ContractText.unknownError)
        // An error of the app, with the app's own text for users.
        case _ where status == nil && message?.isEmpty == false: return message ?? ""
        default: break
        }
        if code == .authResetTokenInvalid { return say(ContractText.linkExpired) }
        if isSessionExpired { return say(ContractText.sessionExpired) }
        if kind == .server { return say(ContractText.server) }
        if kind == .rateLimited { return limitText(in: language, catalogue: catalogue) }
        return codeText(in: language, catalogue: catalogue)
            ?? serverText(in: language)
            ?? catalogue.closestDefinition(to: code).map { say($0.message) }
            ?? violationText(in: language, catalogue: catalogue)
            ?? say(kindText(in: catalogue))
    }

    /// Returns the catalogue's text for the code. For a weak password, the method prefers the server's text, because only the response
    /// contains the reason.
    private func codeText(in language: Language, catalogue: ErrorCatalogue) -> String? {
        guard let definition = catalogue[code] else { return nil }
        if kind == .unauthorized, recovery == .signIn {
            // The catalogue's text for the code states that a session has ended. But the request contained no credentials, so there was no
            // session.
            return catalogue.text(Self.signInText(in: catalogue), in: language)
        }
        // Only the response contains the reason.
        if code == .authWeakPassword, let text = serverText(in: language) { return text }
        return catalogue.text(definition.message, in: language)
    }

    /// Returns the text that asks the user to sign in, without a reason.
    private static func signInText(in catalogue: ErrorCatalogue) -> LocalizedText {
        (catalogue[.authTokenMissing] ?? ErrorCatalogue.standard[.authTokenMissing])?.message ?? ContractText.unknownError
    }

    /// Returns the server's text. If the server sent none, the method returns the server's text for the first field violation. The result
    /// is `nil` if the server's texts are in another language.
    private func serverText(in language: Language) -> String? {
        guard isServerText(in: language) else { return nil }
        if let message, !message.isEmpty { return message }
        return violations.first { !$0.message.isEmpty }?.message
    }

    /// Returns a text for the first field violation of a known kind. If no violation has a known kind, it returns the general text for
    /// invalid input.
    private func violationText(in language: Language, catalogue: ErrorCatalogue) -> String? {
        guard !violations.isEmpty else { return nil }
        let known = violations.lazy.compactMap { $0.text(in: catalogue) }.first
        let general = catalogue[.validationInvalidInput] ?? ErrorCatalogue.standard[.validationInvalidInput]
        return (known ?? general?.message).map { catalogue.text($0, in: language) }
    }

    /// Returns the text for a request that a limit of the server refused. If the delay is known but a specific text doesn't contain it, the
    /// method appends a sentence with the delay.
    private func limitText(in language: Language, catalogue: ErrorCatalogue) -> String {
        let say = { (text: LocalizedText) in catalogue.text(text, in: language) }
        let isGeneral = [.rateLimitExceeded, .rateLimitTooManyRequests].contains(code)
        let specific: String? =
            if let definition = catalogue[code] {
                isGeneral ? nil : say(definition.message)
            } else {
                serverText(in: language)
            }
        guard let specific else { return say(ContractText.limited(wait: retryAfter)) }
        guard let retryAfter, !Self.tells(specific, wait: retryAfter, in: language, catalogue: catalogue) else { return specific }
        let sentence = specific.last.map { ".!?…".contains($0) } == true ? specific : specific + "."
        return sentence + " " + say(ContractText.tryAgain(in: retryAfter))
    }

    /// Returns whether a text already contains the delay in seconds, minutes or hours. A rate such as "5 per 1 minute" is not a delay.
    private static func tells(_ text: String, wait: Duration, in language: Language, catalogue: ErrorCatalogue) -> Bool {
        let seconds = max(1, wait.wholeSecondsRoundedUp)
        let phrases = [
            WaitPhrase(count: seconds, unit: .seconds), WaitPhrase(count: (seconds - 1) / 60 + 1, unit: .minutes),
            WaitPhrase(count: (seconds - 1) / 3_600 + 1, unit: .hours),
        ]
        let text = text.lowercased()
        return phrases.contains { phrase in
            // The method searches for a delay in hours only if the delay is at least one hour, and in minutes only if it is at least one
            // minute.
            guard seconds >= phrase.unit.leastSeconds else { return false }
            let words = catalogue.text(phrase.text, in: language).lowercased()
            return text.ranges(of: words).contains { range in
                let before = text[..<range.lowerBound]
                let after = text[range.upperBound...].first
                return before.last?.isNumber != true && after?.isLetter != true && !rates.contains { before.hasSuffix($0) }
            }
        }
    }

    /// The words that mark the following time as part of a rate, such as "per" in "5 per 1 minute".
    private static let rates = ["per ", "/", "/ ", "por ", "cada ", "par ", "pro ", "every "]

    /// Returns the text for the kind. The method ``text(in:catalogue:)`` uses this text if there is no more specific one.
    private func kindText(in catalogue: ErrorCatalogue) -> LocalizedText {
        let code: ErrorCode? =
            switch (kind, status) {
            case (.forbidden, _): .resourceForbidden
            case (.notFound, _): .resourceNotFound
            case (_, 413): .requestTooLarge
            default: nil
            }
        if kind == .unauthorized, recovery == .signIn { return Self.signInText(in: catalogue) }
        return code.flatMap { catalogue[$0] ?? ErrorCatalogue.standard[$0] }?.message ?? ContractText.unknownError
    }
}

extension APIError {
    /// Returns whether the server's texts are in a language. The header `Content-Language` or the configured ``serverTextLanguage`` must
    /// name this language.
    ///
    /// The method ignores regions and scripts: a text in `es-MX` counts as a text in `es`.
    /// - Parameter language: The user's language.
    /// - Returns: `false` if the language of the texts is unknown.
    public func isServerText(in language: Language) -> Bool {
        if serverTextLanguage?.primary == language.primary { return true }
        guard let named = headers[.contentLanguage] else { return false }
        return named.split(separator: ",").contains { tag in
            Language(tag.trimmingPrefix { $0 == " " }.filter { $0 != " " }).primary == language.primary
        }
    }

    /// Returns the text to show at a field. The method uses the first text of this list that exists:
    ///
    /// 1. The catalogue's text, if the violation has one of the app's own codes.
    /// 2. The server's text, if it is in the user's language.
    /// 3. The text for a rate limit, if a rate limit refused the request.
    /// 4. The library's text for the field and the kind of problem.
    /// 5. The catalogue's text for the violation's code.
    ///
    /// - Parameters:
    ///   - violation: One of ``violations``.
    ///   - language: The user's language.
    ///   - catalogue: The codes that the app knows; `nil` for the catalogue of the client that made the call.
    /// - Returns: The text. If the problem is unknown, the text states that the value is invalid.
    public func text(for violation: FieldViolation, in language: Language, catalogue: ErrorCatalogue? = nil) -> String {
        let catalogue = catalogue ?? self.catalogue ?? .standard
        let isOwn = violation.code.map { ErrorCatalogue.standard[$0] == nil } ?? false
        if isOwn, let definition = violation.code.flatMap({ catalogue[$0] }) {
            return catalogue.text(definition.message, in: language)
        }
        if !violation.message.isEmpty, isServerText(in: language) { return violation.message }
        // The value itself may be valid. The server refused the request because of a rate limit.
        if kind == .rateLimited { return catalogue.text(ContractText.limited(wait: retryAfter), in: language) }
        let text = violation.text(in: catalogue) ?? violation.code.flatMap { catalogue[$0]?.message } ?? ContractText.valueInvalid
        return catalogue.text(text, in: language)
    }
}

extension WaitPhrase.Unit {
    /// The shortest delay, in seconds, that a text expresses in this unit.
    fileprivate var leastSeconds: Int {
        switch self {
        case .seconds: 1
        case .minutes: 60
        case .hours: 3_600
        }
    }
}

extension APIError {
    /// Returns the error to show if this error is the result of a sign-in. If the server reports wrong credentials in any known format, the
    /// returned error has the code `AUTH_INVALID_CREDENTIALS`.
    ///
    /// During a sign-in, there is no session that could have expired. So a 401 without another reason means wrong credentials. The method
    /// also recognizes the codes that other servers send for wrong credentials. `AccountClient.signIn` already calls this method. Call it
    /// yourself if the app signs in directly through an `APIClient`:
    ///
    /// ```swift
    /// do throws(APIError) {
    ///     tokens = try await api.post("/api/token/", credentials, context: "user_login")
    /// } catch {
    ///     shown = error.refusingSignIn().presentation(in: .spanish, now: .now)
    /// }
    /// ```
    /// - Returns: The error with the code `AUTH_INVALID_CREDENTIALS`, the recovery of this code, and the original ``message``. If the error
    ///   doesn't report wrong credentials, the method returns it unchanged.
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

/// A delay that the client itself imposes on further calls. An ``APIError`` contains it as ``APIError/hold``.
///
/// There are two cases. First, the client can refuse a call without sending it, because it is already delaying calls. The error of this
/// call contains the remaining delay. Second, a response such as a 503 can make the client delay further calls. The error for this response
/// contains the new delay. Use ``APIError/isHeldLocally`` to distinguish the two cases:
///
/// ```swift
/// if let hold = error.hold {
///     print(error.isHeldLocally ? "not sent" : "sent", "next call in \(hold.wait)")
/// }
/// ```
public struct LocalHold: Hashable, Sendable {
    /// The part of the client that delays calls.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// The gate, a part of the client that delays all calls to a server after a 503 or a 429.
        case gate
        /// The circuit breaker, which stops calls to a server after failures and timeouts.
        case breaker
        /// The app's own limits, which the client enforces before it sends a request.
        case throttle
    }

    /// The part of the client that delays calls.
    public var source: Source
    /// The time from the moment of the error until the client sends calls again.
    public var wait: Duration
    /// Whether the request that failed was a probe. The client sends single probes to test whether the server has recovered.
    public var isProbe: Bool

    /// Creates a hold.
    /// - Parameters:
    ///   - source: The part of the client that delays calls.
    ///   - wait: The time until the client sends calls again; not negative.
    ///   - isProbe: Whether the request that failed was a probe.
    public init(_ source: Source, wait: Duration, isProbe: Bool = false) {
        self.source = source
        self.wait = wait
        self.isProbe = isProbe
    }
}
