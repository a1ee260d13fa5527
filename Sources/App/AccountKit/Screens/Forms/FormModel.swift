public import AccountContract
public import ErrorContract
import Foundation
public import Observation
import ResilientHTTP

/// The base class of the models of the account's forms. It contains the fields, validates and submits them, and reports the errors.
///
/// A view shows ``title``, ``introduction``, ``fields`` and a button. It starts actions with ``returnPressed(in:)`` and `work.start(_:)`.
/// If there is a ``page``, the view shows it instead of the form. `AccountFormScreen` in `AccountUI` shows each form in this way.
///
/// ```swift
/// let model = ChangePasswordModel(client: accounts, language: .english)
/// model[.currentPassword] = "first password"
/// model[.password] = "second password"
/// model[.confirmation] = "second password"
/// await model.submit()
/// ```
///
/// If the input is invalid, ``submit()`` shows an alert and sends no request. Canceling ``submit()`` returns the model to
/// ``State/editing``. If the response is lost, the next attempt with the same input is sent with the same idempotency key.
@Observable
@MainActor
public class FormModel: StandardScreenModel {
    /// The states of a form. In the description of a state, an arrow (→) precedes the states that can follow.
    public enum State: Hashable, Sendable {
        /// The user edits the form. → `submitting`, `failed`
        case editing
        /// The request is in flight. → `succeeded`, `ended`, `failed`, `editing` if it was canceled or the server refused fields
        case submitting
        /// An error is shown. → `editing`, `submitting`
        case failed(ErrorPresentation)
        /// The form can't be submitted, for example because the link is expired. A page with the reason replaces the form. No other state
        /// follows.
        case ended(ErrorPresentation)
        /// The server has performed the change. A page with the message replaces the form. No other state follows.
        case succeeded(message: String)
    }

    /// The fields, in their order.
    public internal(set) var fields: [AccountField]
    /// Whether the passwords are readable.
    public var isPasswordShown = false
    /// The state of the screen.
    public internal(set) var state = State.editing {
        didSet { if case .failed = state { signals.countAlert() } }
    }
    /// The rules that a new password must satisfy before it is sent.
    public let rules: PasswordRules

    let client: AccountClient
    var texts: FormTexts
    /// Whether an earlier attempt may have succeeded although the client received no response.
    @ObservationIgnored private(set) var mayHaveTakenEffect = false
    @ObservationIgnored private var submissions = RepeatedSubmit<[AccountField: String]>()
    private var values: [AccountField: String] = [:]

    init(_ fields: [AccountField], _ texts: FormTexts, _ context: FormContext) {
        self.fields = fields
        self.texts = texts
        rules = context.rules
        client = context.client.speaking(context.language)
        super.init(language: context.language, catalogue: context.client.api.catalogue, wallClock: context.wallClock)
    }

    /// The typed text of a field. Passwords are empty again after a success.
    /// - Parameter field: A field of the form. Setting a new text removes the server's message about the field.
    public subscript(field: AccountField) -> String {
        get { values[field] ?? "" }
        set {
            if newValue != values[field] ?? "" { problems[field] = nil }
            values[field] = newValue
        }
    }

    /// Prepares the screen. A view calls it when the screen appears.
    public func open() async {}

    /// Submits the form. Does nothing while a request is in flight, or after the form has ended or succeeded.
    public func submit() async {
        guard isSubmitEnabled else { return }
        failure = nil
        problems = FieldProblems()
        let input: FormInput
        switch validated() {
        case .success(let valid): input = valid
        case .failure(let objection):
            signals.focus(objection.field)
            state = .failed(objection.presentation)
            return
        }
        state = .submitting
        signals.announce(presenter.text(texts.progress))
        let submission = submissions.submission(of: values)
        do throws(APIError) {
            let message = try await send(input, submission)
            submissions.end()
            for field in fields where field.isPassword { self[field] = "" }
            succeed(message)
        } catch {
            if submission.mayHaveTakenEffect { mayHaveTakenEffect = true }
            guard !error.isAbandoned else {
                state = .editing
                return
            }
            if let refused = await refusal(error) { show(refused) } else { fail(error) }
        }
    }

    /// Sends the request of the form.
    /// - Returns: The text for the user.
    func send(_ input: FormInput, _ submission: Submission) async throws(APIError) -> String { "" }

    /// Shows the message of a success.
    func succeed(_ message: String) { show(.succeeded(message: message)) }

    /// Returns the state to show after an error of the request. If it returns `nil`, the model shows the error at a field or in an alert.
    func refusal(_ error: APIError) async -> State? { nil }

    /// The seconds until the button is enabled again; 0 for a form without a cooldown.
    public var secondsLeft: Int { 0 }

    /// Updates ``secondsLeft`` once per second, and returns when it is 0.
    public func runCountdown() async {}

    /// The text under the button, for example after an email was sent again; `nil` if there is none.
    public var notice: String? { nil }

    /// The action that follows a success.
    public var nextAction: ErrorPresentation.Action { .dismiss }

    /// Whether the form's request needs a session. If so, a 401 means that the session has ended, and the alert offers a sign-in.
    var needsSession: Bool { false }

    override var isInFlight: Bool { state == .submitting }

    override func retry() async { await submit() }

    override func fail(_ error: APIError) {
        failure = error
        // Errors other than 401 may also recommend a sign-in, for example if the address already has an account.
        let mayEndSession = needsSession || error.kind != .unauthorized
        let presentation = presenter.presentation(of: mayEndSession ? error : error.withoutSession)
        if error.code == .authInvalidCredentials, fields.contains(.currentPassword) {
            refuse(.currentPassword, presenter.text(ContractText.currentPasswordWrong))
        } else if error.code == .authWeakPassword, fields.contains(.password) {
            refuse(.password, presentation.message)
        } else if showProblems(of: error, at: fields) {
            state = .editing
        } else {
            if error.code == .authEmailExists { signals.focus(.email) }
            state = .failed(presentation)
        }
    }

    override public var alert: ErrorPresentation? {
        if case .failed(let presentation) = state { presentation } else { nil }
    }

    override public func dismissAlert() {
        if case .failed = state { state = .editing }
    }

    /// Performs the action that the user chose in an alert or on a page.
    /// - Returns: The action if the app has to perform it, such as leaving the screen.
    @discardableResult
    override public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        if action == .dismiss, page != nil { return action }
        return await super.perform(action)
    }

    /// Whether the button is enabled. It is also enabled while fields are empty. In that case, a tap shows an alert about the missing
    /// field.
    public var isSubmitEnabled: Bool {
        switch state {
        case .editing, .failed: true
        case .submitting, .ended, .succeeded: false
        }
    }

    /// The title of the button: the progress while the request is in flight.
    public var submitTitle: String { presenter.text(state == .submitting ? texts.progress : texts.submit) }

    /// Changes to a state, and announces its text.
    private func show(_ new: State) {
        state = new
        if let page { signals.announce(page.message) }
    }

    /// Shows a message at a field, and moves the focus to the field.
    private func refuse(_ field: AccountField, _ message: String) {
        problems[field] = message
        signals.announce(message)
        signals.focus(field)
        state = .editing
    }
}

/// The values that an app gives to every screen with a form.
struct FormContext {
    var client: AccountClient
    var language: Language
    var rules = PasswordRules()
    var wallClock: @Sendable () -> Date
}

/// The fixed texts of a form.
struct FormTexts {
    var title: LocalizedText
    var introduction: LocalizedText?
    /// The label of the button; `nil` to use ``title``.
    var button: LocalizedText?
    /// The label of the button while the request is in flight.
    var progress: LocalizedText
    /// The labels that replace the usual labels of fields.
    var labels: [AccountField: LocalizedText] = [:]

    var submit: LocalizedText { button ?? title }
}

/// The validated input of a form. A value is `nil` only if the form doesn't have the field.
struct FormInput {
    var email: EmailAddress?
    var firstName: FirstName?
    var password: Password?
    var currentPassword: Password?
}

/// The reason why a form can't be sent, and the field that the user must correct.
struct FormObjection: Error {
    var field: AccountField
    var presentation: ErrorPresentation
}

extension FormModel {
    /// Checks the fields in their order.
    private func validated() -> Result<FormInput, FormObjection> {
        var input = FormInput()
        let empty = fields.first { field in
            field.isPassword ? self[field].isEmpty : self[field].trimmingCharacters(in: .whitespacesAndNewlines).isEmpty
        }
        if let empty {
            return .failure(FormObjection(field: empty, presentation: presenter.problem(ContractText.fieldsEmpty)))
        }
        for field in fields {
            if let problem = read(field, into: &input) { return .failure(FormObjection(field: field, presentation: problem)) }
        }
        return .success(input)
    }

    /// Reads a field that is not empty.
    /// - Returns: The reason why it is invalid; `nil` if it is valid.
    private func read(_ field: AccountField, into input: inout FormInput) -> ErrorPresentation? {
        let text = self[field]
        switch field {
        case .email:
            do throws(EmailRefusal) { input.email = try EmailAddress(text) } catch { return presenter.problem(error) }
        case .firstName:
            input.firstName = try? FirstName(text)
            return input.firstName == nil ? presenter.problem(ContractText.firstNameInvalid) : nil
        case .currentPassword:
            // If the text is longer than any password of an account, the password is wrong.
            input.currentPassword = try? Password(text)
            return input.currentPassword == nil ? presenter.problem(ContractText.currentPasswordWrong) : nil
        case .password:
            if let objection = rules.objection(to: text) {
                return presenter.problem(title: ContractText.weakPasswordTitle, objection)
            }
            input.password = try? Password(text)
        case .confirmation:
            return text == self[.password] ? nil : presenter.problem(ContractText.passwordsDiffer)
        }
        return nil
    }
}

extension FormModel {
    /// The title of the screen.
    public var title: String { presenter.text(texts.title) }

    /// The text above the fields; `nil` if there is none.
    public var introduction: String? { texts.introduction.map(presenter.text) }

    /// The page that replaces the form after the form has ended or succeeded. The buttons of the page perform the actions of this
    /// presentation.
    public var page: ErrorPresentation? {
        switch state {
        case .ended(let presentation): presentation
        case .succeeded(let message): ErrorPresentation(title: title, message: message, primary: nextAction)
        case .editing, .submitting, .failed: nil
        }
    }

    /// The title on ``page``; `nil` if it equals the title of the screen.
    public var heading: String? { page.flatMap { $0.title == title ? nil : $0.title } }

    /// The label of the main button on ``page``.
    public var pageTitle: String? {
        guard let page else { return nil }
        if case .succeeded = state, page.primary == .dismiss { return presenter.text(ContractText.continueTitle) }
        if case .succeeded = state, page.primary == .requestNewLink { return presenter.text(ContractText.resetTitle) }
        return page.primaryLabel(in: language, catalogue: catalogue)
    }

    /// The label of the second button on ``page``; `nil` if the page has only one button.
    public var secondPageTitle: String? { page?.secondaryLabel(in: language, catalogue: catalogue) }

    /// Whether the button is disabled for a while after an email was sent.
    public var isCoolingDown: Bool { secondsLeft > 0 }

    /// The text of the countdown; `nil` if there is none.
    public var cooldownText: String? {
        isCoolingDown ? presenter.text(ContractText.resetCooldown(seconds: secondsLeft)) : nil
    }

    /// Returns the label to show at a field.
    /// - Parameter field: A field of the form.
    /// - Returns: The label in the language of the screen.
    public func label(of field: AccountField) -> String {
        let usual: LocalizedText =
            switch field {
            case .email: ContractText.emailLabel
            case .firstName: ContractText.firstNameLabel
            case .password: ContractText.newPassword
            case .confirmation: ContractText.confirmPassword
            case .currentPassword: ContractText.currentPassword
            }
        return presenter.text(texts.labels[field] ?? usual)
    }

    /// The address of the account, if the form sets a new password and the form's link contains the address. A read-only field shows the
    /// address, so that password managers find the account.
    public var username: String? {
        fields.contains(.password) && !fields.contains(.email) ? (self as? AccountLinkModel)?.link?.email?.text : nil
    }

    /// Whether a field contains a password. If so, the screen has a switch that makes passwords readable.
    public var hasPasswords: Bool { fields.contains(where: \.isPassword) }

    /// The strength of the typed new password; `nil` if the field is empty, or if the form has no field for a new password.
    public var strength: PasswordStrength? {
        fields.contains(.password) && !self[.password].isEmpty ? PasswordStrength(of: self[.password]) : nil
    }

    /// The label of the strength, for the line under the meter.
    public var strengthText: String? { strength.map { presenter.text($0.text) } }

    /// Handles Return in a field: moves the focus to the next field, and submits after the last one.
    /// - Parameter field: The field with the focus.
    public func returnPressed(in field: AccountField) {
        if let index = fields.firstIndex(of: field), index + 1 < fields.count {
            signals.focus(fields[index + 1])
        } else {
            work.start { await self.submit() }
        }
    }

    /// Creates the model of the screen that requests a reset link, with the address if it is known.
    /// - Parameter clock: The clock of the countdown until the next request. A test passes a manual clock.
    public func makeForgotPasswordModel(clock: some Clock<Duration> = ContinuousClock()) -> ForgotPasswordModel {
        ForgotPasswordModel(client: client, language: language, email: knownEmail, clock: clock, wallClock: presenter.wallClock)
    }

    /// Creates the model of the sign-in screen, with the address if it is known.
    public func makeSignInModel() -> SignInModel {
        SignInModel(client: client, language: language, email: knownEmail, wallClock: presenter.wallClock)
    }

    /// The address of the account, if the form or its link contains it.
    private var knownEmail: String { (self as? AccountLinkModel)?.link?.email?.text ?? self[.email] }
}

extension APIError {
    /// The error of a form that lacks a field which its request needs.
    static var incompleteForm: APIError { APIError(.invalidRequest, context: nil) }
}
