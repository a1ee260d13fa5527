public import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP

/// The model of the screen that a reset link opens: it validates the link, then sets a new password.
///
/// A view calls ``open()`` when it appears and shows ``state``. After ``State/succeeded(email:)`` and
/// ``State/passwordProbablyChanged(_:)``, the view shows the screen of ``makeSignInModel()``. After ``State/linkExpired(_:)``, it shows the
/// screen of ``makeForgotPasswordModel(clock:)``. The buttons of the view start their actions with `work.start(_:)`. If a call is canceled,
/// the model returns to its earlier state.
@Observable
@MainActor
public final class ResetPasswordModel: StandardScreenModel {
    /// The states of the screen. In the description of a state, an arrow (→) precedes the states that can follow.
    public enum State: Hashable, Sendable {
        /// The link that opened the app is not a reset link, or the server doesn't accept its format. No other state follows.
        case linkInvalid(ErrorPresentation)
        /// The link is not validated yet. → `checking`
        case unchecked
        /// The validation of the link is in flight. → `editing`, `linkExpired`, `linkInvalid`,
        /// `checkFailed`, `unchecked` if it was canceled
        case checking
        /// The server could not validate the link, for example because the connection broke. → `checking`, `unchecked`
        case checkFailed(ErrorPresentation)
        /// The link is expired, used or unknown. No other state follows, because the user has to request a new link.
        case linkExpired(ErrorPresentation)
        /// The user edits the form. → `submitting`, `failed`
        case editing
        /// The server refused the password. The reason is shown at the field, and the link is still usable.
        /// → `editing` as soon as the password changes, `submitting`, `failed`
        case passwordRefused(reason: String)
        /// The request is in flight. → `succeeded`, `passwordRefused`, `linkExpired`, `passwordProbablyChanged`, `failed`,
        /// `editing` if it was canceled
        case submitting
        /// An error is shown. → `editing`, `submitting`
        case failed(ErrorPresentation)
        /// The password is changed, and the user can sign in with it. The address is `nil` if neither the link nor the server's response
        /// contained it. No other state follows.
        case succeeded(email: EmailAddress?)
        /// The response to an attempt was lost, and a server without idempotency keys refuses the link in the next attempt. The first
        /// attempt has probably set the password, so the user is asked to sign in with the new password. No other state follows.
        case passwordProbablyChanged(ErrorPresentation)
    }

    /// The fields, in their order.
    public static let fields: [AccountField] = [.password, .confirmation]

    /// The typed new password; empty again after it has been accepted.
    public var password = "" {
        didSet {
            if case .passwordRefused = state, password != oldValue { state = .editing }
            announceMismatch()
        }
    }
    /// The repeated new password.
    public var confirmation = "" {
        didSet { announceMismatch() }
    }
    /// Whether both passwords are readable.
    public var isPasswordShown = false
    /// The state of the screen.
    public private(set) var state = State.unchecked {
        didSet { if alert != nil { signals.countAlert() } }
    }

    /// The rules that a password must satisfy before it is sent.
    public let rules: PasswordRules
    let client: AccountClient
    private let link: ResetLink?
    /// The user's first name, from the server's response to the validation.
    private(set) var firstName: String?
    private(set) var email: EmailAddress?
    @ObservationIgnored private var submit = RepeatedSubmit<Password>()
    /// Whether an earlier attempt may have used the link although its response was lost. That attempt may have contained another password.
    @ObservationIgnored private var mayHaveConsumedLink = false
    /// Whether VoiceOver has announced that the passwords differ. It is reset when the passwords match.
    @ObservationIgnored private var hasAnnouncedMismatch = false

    /// Creates the model.
    /// - Parameters:
    ///   - link: The link that opened the app, or `nil` if it could not be parsed as a reset link.
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - rules: The rules that a password must satisfy before it is sent.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        link: ResetLink?,
        client: AccountClient,
        language: Language,
        rules: PasswordRules = PasswordRules(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.link = link
        self.client = client.speaking(language)
        self.rules = rules
        self.email = link?.email
        super.init(language: language, catalogue: client.api.catalogue, wallClock: wallClock)
        if link == nil { state = .linkInvalid(presenter.linkInvalid) }
    }

    /// Validates the link. Does nothing if the link was already validated, or while the request is in flight.
    public func open() async {
        switch state {
        case .unchecked, .checkFailed: break
        default: return
        }
        guard let link else { return }
        failure = nil
        state = .checking
        signals.announce(presenter.text(ScreenText.checkingLink))
        do throws(APIError) {
            let response = try await client.validateReset(link)
            let name = response.firstName.trimmingCharacters(in: .whitespacesAndNewlines)
            firstName = name.isEmpty ? nil : name
            email = link.email ?? response.email
            state = .editing
            signals.announce(greeting)
        } catch {
            refuseLink(error)
        }
    }

    /// Sets the new password. Does nothing if the form isn't shown, or while the request is in flight.
    public func submit() async {
        guard isSubmitEnabled, let link else { return }
        failure = nil
        if let problem = formProblem {
            signals.focus(problem.field)
            state = .failed(problem.presentation)
            return
        }
        guard let newPassword = try? Password(password) else { return }
        state = .submitting
        signals.announce(presenter.text(ScreenText.savingPassword))
        let submission = submit.submission(of: newPassword)
        do throws(APIError) {
            _ = try await client.confirmReset(link, newPassword: newPassword, submission: submission)
            finish(.succeeded(email: email))
        } catch {
            if submission.mayHaveTakenEffect { mayHaveConsumedLink = true }
            if mayHaveConsumedLink, !error.isAbandoned, await isConsumed(link, by: error) {
                finish(.passwordProbablyChanged(presenter.passwordProbablyChanged))
            } else {
                refusePassword(error)
            }
        }
    }

    /// Removes the typed passwords, and changes to a final state.
    private func finish(_ end: State) {
        password = ""
        confirmation = ""
        submit.end()
        self.end(end)
    }

    /// Returns whether a failed attempt to set the password means that the link is no longer usable. An error without a code can also mean
    /// that the server refuses the password. In this case, the method validates the link again.
    private func isConsumed(_ link: ResetLink, by refusal: APIError) async -> Bool {
        if refusal.code == .authResetTokenInvalid { return true }
        guard refusal.isDeadLink, refusal.isCodeless else { return false }
        do throws(APIError) {
            _ = try await client.validateReset(link)
            return false
        } catch {
            return error.isDeadLink
        }
    }

    /// The reason why the form can't be sent, and the field that the user must correct.
    private var formProblem: (presentation: ErrorPresentation, field: AccountField)? {
        guard !password.isEmpty, !confirmation.isEmpty else {
            return (presenter.problem(ContractText.fieldsEmpty), password.isEmpty ? .password : .confirmation)
        }
        if let objection = rules.objection(to: password) {
            return (presenter.problem(title: ContractText.weakPasswordTitle, objection), .password)
        }
        return password == confirmation ? nil : (presenter.problem(ContractText.passwordsDiffer), .confirmation)
    }

    /// Announces once that the passwords differ. The announcement waits until the second password is as long as the first, because a
    /// shorter password always differs.
    private func announceMismatch() {
        guard passwordsMatch == false else {
            hasAnnouncedMismatch = false
            return
        }
        guard !hasAnnouncedMismatch, confirmation.count >= password.count, let matchProblem else { return }
        hasAnnouncedMismatch = true
        signals.announce(matchProblem)
    }

    /// Shows the result of a failed validation: the page for an invalid link, the page for an expired link, or an alert.
    private func refuseLink(_ error: APIError) {
        if error.isAbandoned {
            state = .unchecked
        } else if error.kind == .validation {
            end(.linkInvalid(presenter.linkInvalid))
        } else if error.isDeadLink {
            end(.linkExpired(presenter.linkExpired))
        } else {
            failure = error
            state = .checkFailed(presenter.presentation(of: error.withoutSession))
        }
    }

    /// Shows the result of a failed attempt to set the password: the page for an expired link, a message at the password, or an alert.
    private func refusePassword(_ error: APIError) {
        let presentation = presenter.presentation(of: error.withoutSession)
        let fieldProblem = presenter.fieldProblems(of: error, fields: Self.fields).problems[.password]
        if error.isAbandoned {
            state = .editing
        } else if error.code == .authResetTokenInvalid {
            end(.linkExpired(presenter.linkExpired))
        } else if error.code == .authWeakPassword {
            refusePassword(reason: presentation.message)
        } else if let fieldProblem {
            refusePassword(reason: fieldProblem)
        } else {
            failure = error
            state = .failed(presentation)
        }
    }

    /// Shows the reason at the field, and moves the focus to it.
    private func refusePassword(reason: String) {
        state = .passwordRefused(reason: reason)
        signals.announce(reason)
        signals.focus(.password)
    }

    /// Changes to a final state and announces its text.
    private func end(_ end: State) {
        state = end
        if let text = successText ?? deadLink?.message { signals.announce(text) }
    }

    override public var alert: ErrorPresentation? {
        switch state {
        case .checkFailed(let presentation), .failed(let presentation): presentation
        default: nil
        }
    }

    override public func dismissAlert() {
        switch state {
        case .checkFailed: state = .unchecked
        case .failed: state = .editing
        default: break
        }
    }

    /// Performs the action that the user chose in an alert, or on the page of a link that can't be used.
    /// - Returns: The action if the app has to perform it, such as requesting a new link or leaving the screen.
    @discardableResult
    override public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        if action == .dismiss, isOver { return action }
        return await super.perform(action)
    }

    /// Returns the message to show at a field.
    override public func problem(at field: AccountField) -> String? {
        switch field {
        case .password: passwordProblem
        case .confirmation: matchProblem
        case .email, .firstName, .currentPassword: nil
        }
    }

    override func retry() async {
        switch state {
        case .unchecked, .checkFailed: await open()
        default: await submit()
        }
    }

    override func fail(_ error: APIError) {
        switch state {
        case .unchecked, .checkFailed: state = .checkFailed(presenter.presentation(of: error))
        case .editing, .passwordRefused, .failed: state = .failed(presenter.presentation(of: error))
        case .linkInvalid, .checking, .linkExpired, .submitting, .succeeded, .passwordProbablyChanged: return
        }
        failure = error
    }
}

extension APIError {
    /// Whether the error means that the link can't be used. Older servers report this without the code of the contract.
    fileprivate var isDeadLink: Bool {
        code == .authResetTokenInvalid || [.badRequest, .unauthorized, .notFound].contains(kind)
    }

    /// Whether the server sent no code. In this case, the client has derived the code from the status.
    fileprivate var isCodeless: Bool { [.badRequest, .unauthorized, .notFound].contains(code) }
}

extension ResetPasswordModel {
    /// Whether the button is enabled.
    public var isSubmitEnabled: Bool {
        switch state {
        case .editing, .passwordRefused, .failed: true
        case .linkInvalid, .unchecked, .checking, .checkFailed, .linkExpired, .submitting, .succeeded,
            .passwordProbablyChanged:
            false
        }
    }

    /// Whether the fields are shown.
    public var isFormShown: Bool { isSubmitEnabled || state == .submitting }

    /// The title of the button: the progress while the request is in flight.
    public var submitTitle: String {
        presenter.text(state == .submitting ? ScreenText.savingPassword : ContractText.confirm)
    }

    /// The title of the button that replaces the form until the link is validated: the progress, or "Try Again" after a
    /// failure.
    public var openTitle: String {
        switch state {
        case .unchecked, .checkFailed: presenter.text(ContractText.retry)
        default: presenter.text(ScreenText.checkingLink)
        }
    }

    /// Whether the button that validates the link is enabled.
    public var isOpenEnabled: Bool {
        switch state {
        case .unchecked, .checkFailed: true
        default: false
        }
    }

    /// The address of the account, if the link or the server's response contained it. A read-only field shows the address, so that password
    /// managers find the account.
    public var username: String? { email?.text }

    /// Handles Return in a field: moves the focus to the next field, and submits after the last one.
    /// - Parameter field: The field with the focus.
    public func returnPressed(in field: AccountField) {
        if field == .password { signals.focus(.confirmation) } else { work.start { await self.submit() } }
    }

    /// Whether the state is final.
    var isOver: Bool {
        switch state {
        case .linkInvalid, .linkExpired, .succeeded, .passwordProbablyChanged: true
        case .unchecked, .checking, .checkFailed, .editing, .passwordRefused, .submitting, .failed: false
        }
    }

    /// The strength of the password; `nil` while it is empty.
    public var strength: PasswordStrength? { password.isEmpty ? nil : PasswordStrength(of: password) }

    /// The label of the strength, for the line under the meter.
    public var strengthText: String? { strength.map { presenter.text($0.text) } }

    /// Whether the two fields are equal; `nil` while the second one is empty.
    public var passwordsMatch: Bool? { confirmation.isEmpty ? nil : password == confirmation }

    /// The line under the second field; `nil` while the second password is empty or equals the first.
    public var matchProblem: String? {
        passwordsMatch == false ? presenter.text(ContractText.passwordsDiffer) : nil
    }

    /// The line under the password field: the reason why the server refused the password.
    public var passwordProblem: String? {
        if case .passwordRefused(let reason) = state { reason } else { nil }
    }

    /// The line above the fields, with the user's name if it is known.
    public var greeting: String { presenter.text(ContractText.resetGreeting(name: firstName)) }

    /// The page that replaces the form if the link can't be used.
    public var deadLink: ErrorPresentation? {
        switch state {
        case .linkInvalid(let presentation), .linkExpired(let presentation), .passwordProbablyChanged(let presentation):
            presentation
        default: nil
        }
    }

    /// The text after the password was changed.
    public var successText: String? {
        if case .succeeded = state { presenter.text(ContractText.resetSucceeded) } else { nil }
    }

    /// Creates the model of the sign-in screen, which follows a success. The model contains the address if it is known.
    public func makeSignInModel() -> SignInModel {
        SignInModel(client: client, language: language, email: email?.text ?? "", wallClock: presenter.wallClock)
    }

    /// Creates the model of the screen on which a user with an expired or used link requests a new link. The model contains the address if
    /// it is known.
    /// - Parameter clock: The clock of the countdown until the next request. A test passes a manual clock.
    public func makeForgotPasswordModel(clock: some Clock<Duration> = ContinuousClock()) -> ForgotPasswordModel {
        ForgotPasswordModel(
            client: client,
            language: language,
            email: email?.text ?? "",
            clock: clock,
            wallClock: presenter.wallClock
        )
    }
}

/// The rules that a new password must satisfy before a screen sends it. The server may have further rules.
public struct PasswordRules: Hashable, Sendable {
    /// The minimum number of characters.
    public var minimumLength: Int
    /// The maximum number of characters.
    public var maximumLength: Int
    /// Whether letters and digits must both occur.
    public var requiresLettersAndDigits: Bool

    /// Creates rules. The defaults are the default rules of the server. If the server is configured with other rules, pass them, so that
    /// the screen refuses a password without a request.
    /// - Parameters:
    ///   - minimumLength: The minimum number of characters, as users count them.
    ///   - maximumLength: The maximum number of characters.
    ///   - requiresLettersAndDigits: Whether letters and digits must both occur.
    /// - Precondition: `1 ≤ minimumLength ≤ maximumLength`.
    public init(minimumLength: Int = 8, maximumLength: Int = 256, requiresLettersAndDigits: Bool = false) {
        precondition(
            minimumLength >= 1 && minimumLength <= maximumLength,
            "minimumLength must be from 1 to maximumLength (are \(minimumLength) and \(maximumLength))"
        )
        self.minimumLength = minimumLength
        self.maximumLength = maximumLength
        self.requiresLettersAndDigits = requiresLettersAndDigits
    }

    /// Returns the text about the first rule that a password breaks, or `nil` if it satisfies all. O(length).
    ///
    /// The server may refuse a password for further reasons, for example because it is very common.
    /// - Parameter password: The password, as the user has typed it.
    public func objection(to password: String) -> LocalizedText? {
        if password.count < minimumLength { return ContractText.passwordTooShort(minimum: minimumLength) }
        if password.count > maximumLength || password.utf8.count > Password.maximumLength {
            return ContractText.passwordTooLong(maximum: maximumLength)
        }
        if requiresLettersAndDigits, !(password.contains(where: \.isLetter) && password.contains(where: \.isNumber)) {
            return ContractText.passwordNeedsLettersAndDigits
        }
        return nil
    }
}
