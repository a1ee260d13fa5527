public import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP

/// The model of the screen on which a user signs in.
///
/// A view shows ``state`` and starts actions with ``returnPressed(in:)`` and `work.start(_:)`:
///
/// ```swift
/// Button(model.submitTitle) { model.work.start { await model.submit() } }
///     .disabled(!model.isSubmitEnabled)
/// ```
///
/// Canceling ``submit()`` returns the model to ``State/editing``. If the server requires a verified address, the alert offers to send the
/// link again, and ``perform(_:)`` sends it.
@Observable
@MainActor
public final class SignInModel: StandardScreenModel {
    /// The states of the screen. In the description of a state, an arrow (→) precedes the states that can follow.
    public enum State: Hashable, Sendable {
        /// The user edits the form. → `signingIn`, `failed`
        case editing
        /// The request is in flight. → `signedIn`, `failed`, `editing` if it was canceled or the server refused fields
        case signingIn
        /// The request for a verification link is in flight. → `failed` with the text for the user, `editing` if it was canceled
        case requestingLink
        /// An error is shown. → `editing`, `signingIn`, `requestingLink`
        case failed(ErrorPresentation)
        /// The user is signed in. No other state follows.
        case signedIn(AccountUser)
    }

    /// The fields, in their order.
    public static let fields: [AccountField] = [.email, .password]

    /// The typed address.
    public var email: String {
        didSet { if email != oldValue { problems[.email] = nil } }
    }
    /// The typed password; empty again after it has been accepted.
    public var password = "" {
        didSet { if password != oldValue { problems[.password] = nil } }
    }
    /// Whether the password is readable.
    public var isPasswordShown = false
    /// The state of the screen.
    public private(set) var state = State.editing {
        didSet { if case .failed = state { signals.countAlert() } }
    }

    private let client: AccountClient
    @ObservationIgnored private var submit = RepeatedSubmit<[String]>()
    @ObservationIgnored private var linkRequest = RepeatedSubmit<String>()
    /// Whether the failed request asked for a verification link. A retry then repeats this request instead of the sign-in.
    @ObservationIgnored private var isLinkFailure = false

    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - email: The initial address.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        client: AccountClient,
        language: Language,
        email: String = "",
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.client = client.speaking(language)
        self.email = email
        super.init(language: language, catalogue: client.api.catalogue, wallClock: wallClock)
    }

    /// Whether the button is enabled. It is also enabled while fields are empty. In that case, a tap shows an alert about the missing
    /// field.
    public var isSubmitEnabled: Bool {
        switch state {
        case .editing, .failed: true
        case .signingIn, .requestingLink, .signedIn: false
        }
    }

    /// Signs in. Does nothing while a sign-in is in flight, or after the user has signed in.
    ///
    /// Empty fields and malformed addresses are refused without a request. After success, the client's session has the credentials, and
    /// ``state`` is ``State/signedIn(_:)``. If the response is lost, the next attempt with the same input is sent with the same idempotency
    /// key.
    public func submit() async {
        guard isSubmitEnabled else { return }
        (failure, isLinkFailure) = (nil, false)
        problems = FieldProblems()
        let hasEmail = !email.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty
        guard hasEmail, !password.isEmpty else {
            refuse(presenter.problem(ContractText.fieldsEmpty), at: hasEmail ? .password : .email)
            return
        }
        let address: EmailAddress
        do throws(EmailRefusal) {
            address = try EmailAddress(email)
        } catch {
            refuse(presenter.problem(error), at: .email)
            return
        }
        guard let secret = try? Password(password) else {
            // The text is longer than the password of any account, so it can't be correct.
            fail(.wrongCredentials)
            return
        }
        await signIn(address, secret)
    }

    /// Sends the request and shows its result.
    private func signIn(_ address: EmailAddress, _ secret: Password) async {
        state = .signingIn
        signals.announce(presenter.text(ScreenText.signingIn))
        do throws(APIError) {
            let submission = submit.submission(of: [address.text, secret.rawValue])
            let user = try await client.signIn(email: address, password: secret, submission: submission)
            submit.end()
            password = ""
            state = .signedIn(user)
        } catch {
            guard !error.isAbandoned else {
                state = .editing
                return
            }
            fail(error)
        }
    }

    override var isInFlight: Bool { !isSubmitEnabled }

    override func retry() async {
        if isLinkFailure { await requestLink() } else { await submit() }
    }

    override func fail(_ error: APIError) {
        failure = error
        let isComplete = showProblems(of: error, at: Self.fields)
        if error.code == .authInvalidCredentials, problems.isEmpty { signals.focus(.password) }
        guard !isComplete else {
            state = .editing
            return
        }
        var shown = error
        if error.code == .authEmailNotVerified { shown.recovery = .requestNewLink }
        state = .failed(presenter.presentation(of: shown))
    }

    /// Requests the link that verifies the typed address, and shows the text of the response as an alert.
    private func requestLink() async {
        guard let address = try? EmailAddress(email) else { return }
        state = .requestingLink
        signals.announce(presenter.text(ScreenText.sendingLink))
        do throws(APIError) {
            let submission = linkRequest.submission(of: address.text)
            let message = try await client.requestVerification(email: address, submission: submission)
            linkRequest.end()
            let title = presenter.text(ContractText.checkEmailTitle)
            state = .failed(ErrorPresentation(title: title, message: message, primary: .dismiss))
        } catch {
            guard !error.isAbandoned else {
                state = .editing
                return
            }
            let shown = error.withoutSession
            (failure, isLinkFailure) = (shown, true)
            state = .failed(presenter.presentation(of: shown))
        }
    }

    /// Shows an alert about a field, which gets the focus afterwards.
    private func refuse(_ problem: ErrorPresentation, at field: AccountField) {
        signals.focus(field)
        state = .failed(problem)
    }

    override public var alert: ErrorPresentation? {
        if case .failed(let presentation) = state { presentation } else { nil }
    }

    override public func dismissAlert() {
        if case .failed = state { state = .editing }
    }

    @discardableResult
    override public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        if action == .requestNewLink, failure?.code == .authEmailNotVerified {
            await requestLink()
            return nil
        }
        // The user is already on the screen to which the action leads.
        return await super.perform(action == .signIn ? .dismiss : action)
    }
}

extension SignInModel {
    /// The title of the button: the progress while a request is in flight.
    public var submitTitle: String {
        switch state {
        case .signingIn: presenter.text(ScreenText.signingIn)
        case .requestingLink: presenter.text(ScreenText.sendingLink)
        case .editing, .failed, .signedIn: presenter.text(ContractText.signIn)
        }
    }

    /// Whether the fields are shown. After a success, the value is `false`, and ``password`` is empty. A view removes the fields in the
    /// update that shows this state. If the view emptied the password field first, the system would not offer to save the password.
    public var isFormShown: Bool {
        if case .signedIn = state { false } else { true }
    }

    /// Whether a request is in flight. Leaving the screen would cancel the request.
    public var isBusy: Bool { state == .signingIn || state == .requestingLink }

    /// Handles Return in a field: moves the focus to the next field, and submits after the last one.
    /// - Parameter field: The field with the focus.
    public func returnPressed(in field: AccountField) {
        if field == .email { signals.focus(.password) } else { work.start { await self.submit() } }
    }
}

extension APIError {
    /// The error for a password that can't belong to any account.
    fileprivate static let wrongCredentials = APIError(
        kind: .unauthorized,
        code: .authInvalidCredentials,
        recovery: .fixFields,
        context: "user_login",
        attempts: 0
    )
}
