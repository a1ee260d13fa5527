public import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP

/// The base class of the models of screens that an emailed link opens.
///
/// The link is used only when the user submits the form, and not when the screen opens. If the link can't be used, a page replaces the
/// form.
@Observable
@MainActor
public class AccountLinkModel: FormModel {
    /// The link that opened the app; `nil` if the link could not be parsed, or if it has another purpose than this screen.
    public let link: AccountLink?

    init(
        _ link: AccountLink?,
        for purposes: Set<AccountLink.Purpose>,
        _ fields: [AccountField],
        _ texts: FormTexts,
        _ context: FormContext
    ) {
        self.link = link.flatMap { purposes.contains($0.purpose) ? $0 : nil }
        super.init(fields, texts, context)
        if self.link == nil { state = .ended(presenter.accountLinkInvalid) }
    }

    /// Whether the user can request another link.
    var isRenewable: Bool { false }

    /// Sends the request that uses the link.
    /// - Returns: The text for the user.
    func use(_ link: AccountLink, _ input: FormInput, _ submission: Submission) async throws(APIError) -> String { "" }

    override func send(_ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        guard let link else { throw .incompleteForm }
        return try await use(link, input, submission)
    }

    override func refusal(_ error: APIError) async -> State? {
        guard error.code == .authResetTokenInvalid else { return nil }
        guard mayHaveTakenEffect else { return .ended(presenter.accountLinkExpired(isRenewable: isRenewable)) }
        return .ended(presenter.probablySucceeded(title: texts.title, ContractText.requestProbablySucceeded))
    }
}

/// The model of the screen that the emailed link of a blind registration opens. The user chooses a password, which creates the account.
///
/// With blind registration, the server creates an account only after the user has opened an emailed link. After a success, the user is
/// signed in, and ``user`` is the account.
@Observable
@MainActor
public final class ActivateModel: AccountLinkModel {
    /// The new account; `nil` before a success.
    public private(set) var user: AccountUser?

    /// Creates the model.
    /// - Parameters:
    ///   - link: The link that opened the app, or `nil` if it could not be parsed.
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - rules: The rules that the password must satisfy before it is sent.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        link: AccountLink?,
        client: AccountClient,
        language: Language,
        rules: PasswordRules = PasswordRules(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        super.init(
            link,
            for: [.activate],
            [.password, .confirmation],
            FormTexts(
                title: ContractText.choosePassword,
                introduction: ContractText.choosePasswordReason,
                button: ContractText.createAccount,
                progress: ContractText.creatingAccount
            ),
            FormContext(client: client, language: language, rules: rules, wallClock: wallClock)
        )
    }

    override var isRenewable: Bool { true }

    override func use(_ link: AccountLink, _ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        guard let password = input.password else { throw .incompleteForm }
        user = try await client.activate(token: link.token, password: password, email: link.email, submission: submission)
        return presenter.text(ContractText.accountCreated)
    }
}

/// The base class of the models for links that need a second proof. The session or the password must prove that the account belongs to the
/// user.
///
/// ``open()`` checks whether there is a session. Without a session, the form has a field for the password. The session may belong to
/// another account. If the server refuses the session for this reason, the form asks for the password.
@Observable
@MainActor
public class ProvenLinkModel: AccountLinkModel {
    /// Whether the request carries the access token of the client's session, instead of the password.
    private var usesSession = false
    /// Whether the server has refused the session for this link. The form then asks for the password, even if there is still a session.
    private var isSessionRefused = false

    /// Checks whether there is a session. Without a session, the form gets a field for the password. If the server has already refused the
    /// session, the method does nothing.
    override public func open() async {
        guard link?.purpose != .undoEmail, state == .editing, !isSessionRefused else { return }
        usesSession = ((try? await client.session.credentials) ?? nil) != nil
        fields = usesSession ? [] : [.currentPassword]
    }

    /// Whether the session belongs to the recipient of the link.
    private var isOwnSession: Bool {
        get async {
            guard link?.purpose == .verifyEmail, let email = link?.email else { return false }
            return (try? await client.me())?.email?.normalized == email.normalized
        }
    }

    override func refusal(_ error: APIError) async -> State? {
        let mayRefuseSession = error.kind == .unauthorized || error.code == .authResetTokenInvalid && !mayHaveTakenEffect
        guard usesSession, mayRefuseSession else { return await super.refusal(error) }
        if error.code == .authResetTokenInvalid, await isOwnSession { return await super.refusal(error) }
        (usesSession, isSessionRefused) = (false, true)
        fields = [.currentPassword]
        signals.focus(.currentPassword)
        return .editing
    }
}

/// The model of the screen that a verification link opens.
///
/// If the user has forgotten the password, show the screen of `makeForgotPasswordModel(clock:)`: a password reset also verifies the
/// address.
@Observable
@MainActor
public final class VerifyEmailModel: ProvenLinkModel {
    /// Creates the model.
    /// - Parameters:
    ///   - link: The link that opened the app, or `nil` if it could not be parsed.
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        link: AccountLink?,
        client: AccountClient,
        language: Language,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        super.init(
            link,
            for: [.verifyEmail],
            [],
            FormTexts(
                title: ContractText.verifyEmail,
                introduction: link?.email.map { ContractText.verifyEmailQuestion($0.text) } ?? ContractText.verifyUnnamedEmail,
                button: ContractText.confirm,
                progress: ContractText.confirming,
                labels: [.currentPassword: ContractText.passwordLabel]
            ),
            FormContext(client: client, language: language, wallClock: wallClock)
        )
    }

    override var isRenewable: Bool { true }

    override func use(_ link: AccountLink, _ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        try await client.verifyEmail(token: link.token, currentPassword: input.currentPassword, submission: submission)
    }

    /// Creates the model of the screen that sends the link again; `nil` if the link doesn't contain the address.
    /// - Parameter clock: The clock of the countdown until the next email. A test passes a manual clock.
    public func makeCheckEmailModel(clock: some Clock<Duration> = ContinuousClock()) -> CheckEmailModel? {
        guard let email = link?.email else { return nil }
        return CheckEmailModel(
            .verification,
            email: email,
            isSent: false,
            client: client,
            language: language,
            clock: clock,
            wallClock: presenter.wallClock
        )
    }
}

/// The model of the screen for the emailed links about a change of the address. The link that was sent to the new address confirms the
/// change. The link that was sent to the former address undoes the change.
///
/// After undoing a change, the user must reset the password before the next sign-in. For this reset, show the screen of
/// `makeForgotPasswordModel(clock:)`.
@Observable
@MainActor
public final class ConfirmEmailModel: ProvenLinkModel {
    /// Creates the model.
    /// - Parameters:
    ///   - link: The link that opened the app, or `nil` if it could not be parsed.
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        link: AccountLink?,
        client: AccountClient,
        language: Language,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        let question = link?.email.map { ContractText.confirmEmailQuestion($0.text) } ?? ContractText.confirmUnnamedEmail
        let texts =
            link?.purpose == .undoEmail
            ? FormTexts(
                title: ContractText.restoreEmail,
                introduction: ContractText.restoreEmailEffect,
                progress: ContractText.confirming
            )
            : FormTexts(
                title: ContractText.changeEmail,
                introduction: question,
                button: ContractText.confirm,
                progress: ContractText.confirming,
                labels: [.currentPassword: ContractText.passwordLabel]
            )
        super.init(
            link,
            for: [.confirmEmail, .undoEmail],
            [],
            texts,
            FormContext(client: client, language: language, wallClock: wallClock)
        )
    }

    /// Whether the link undoes a change.
    public var isUndo: Bool { link?.purpose == .undoEmail }

    /// The action that follows a success: a password reset after the change was undone, otherwise closing the screen.
    override public var nextAction: ErrorPresentation.Action { isUndo ? .requestNewLink : .dismiss }

    override func use(_ link: AccountLink, _ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        if isUndo { return try await client.undoEmailChange(token: link.token, submission: submission) }
        return try await client.confirmEmailChange(
            token: link.token,
            currentPassword: input.currentPassword,
            submission: submission
        )
    }
}

/// The model of the screen for the link in the email about a deleted account. The link restores the account, and the user then signs in
/// again.
@Observable
@MainActor
public final class KeepAccountModel: AccountLinkModel {
    /// Creates the model.
    /// - Parameters:
    ///   - link: The link that opened the app, or `nil` if it could not be parsed.
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        link: AccountLink?,
        client: AccountClient,
        language: Language,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        super.init(
            link,
            for: [.keepAccount],
            [],
            FormTexts(
                title: ContractText.restoreAccount,
                introduction: ContractText.restoreAccountEffect,
                progress: ContractText.confirming
            ),
            FormContext(client: client, language: language, wallClock: wallClock)
        )
    }

    /// The action that follows a success: the sign-in. The server doesn't restore the sessions of a restored account.
    override public var nextAction: ErrorPresentation.Action { .signIn }

    override func use(_ link: AccountLink, _ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        try await client.keepAccount(token: link.token, submission: submission)
    }
}
