public import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP

/// The screen on which a person signs in.
///
/// A view shows ``state`` and calls the methods; there is no work that outlives the call. Cancelling ``submit()`` takes the
/// model back to ``State/editing``.
@Observable
@MainActor
public final class SignInModel {
    /// Where the screen stands.
    public enum State: Hashable, Sendable {
        /// The person types. → `signingIn`, `failed`
        case editing
        /// The server is being asked. → `signedIn`, `failed`, `editing` if it was cancelled
        case signingIn
        /// Something is in the way. → `editing`, `signingIn`
        case failed(ErrorPresentation)
        /// The person is in. Nothing follows.
        case signedIn(AccountUser)
    }

    /// The address as it is typed.
    public var email: String
    /// The password as it is typed; empty again once it has been accepted.
    public var password = ""
    /// Whether the password can be read.
    public var isPasswordShown = false
    /// Where the screen stands.
    public private(set) var state = State.editing

    /// The language of the screen, and of the server's texts.
    public let language: Language
    /// Finds out whether a request took effect whose response was lost. ``perform(_:)`` calls it for
    /// ``ErrorContract/ErrorPresentation/Action/checkAgain``, and never sends the request again; if it is `nil`, the action is returned.
    @ObservationIgnored public var checkAgain: (@MainActor () async -> Void)?
    private let client: AccountClient
    private let presenter: Presenter
    @ObservationIgnored private var failure: APIError?
    @ObservationIgnored private var submit = RepeatedSubmit<LoginRequest>()

    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API; its language is set to the screen's.
    ///   - language: The person's language.
    ///   - email: The address that stands in the field at first.
    ///   - wallClock: The local time, from which ``ErrorContract/ErrorPresentation/Action/retryAt(_:)`` counts.
    public init(
        client: AccountClient,
        language: Language,
        email: String = "",
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.client = client.speaking(language)
        self.language = language
        self.email = email
        self.presenter = Presenter(language: language, catalogue: client.api.catalogue, wallClock: wallClock)
    }

    /// Whether the button works.
    public var isSubmitEnabled: Bool {
        switch state {
        case .editing, .failed: true
        case .signingIn, .signedIn: false
        }
    }

    /// Signs in. Ignored while it is being done, and after.
    public func submit() async {
        guard isSubmitEnabled else { return }
        failure = nil
        guard !email.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty, !password.isEmpty else {
            state = .failed(presenter.problem(ContractText.fieldsEmpty))
            return
        }
        let address: EmailAddress
        do throws(EmailRefusal) {
            address = try EmailAddress(email)
        } catch {
            state = .failed(presenter.problem(error))
            return
        }
        guard let secret = try? Password(password) else {
            // Longer than any password that an account can have.
            fail(.wrongCredentials)
            return
        }
        await signIn(address, secret)
    }

    private func signIn(_ address: EmailAddress, _ secret: Password) async {
        state = .signingIn
        do throws(APIError) {
            let submission = submit.submission(of: LoginRequest(email: address, password: secret))
            let user = try await client.signIn(email: address, password: secret, submission: submission)
            submit.end()
            password = ""
            state = .signedIn(user)
        } catch {
            guard !error.isAbandoned else {
                state = .editing
                return
            }
            fail(error.asSignInRefusal)
        }
    }

    private func fail(_ error: APIError) {
        failure = error
        state = .failed(presenter.presentation(of: error))
    }
}

extension SignInModel {
    /// The texts of the screen: the client's catalogue, with the app's own words.
    public var catalogue: ErrorCatalogue { presenter.catalogue }

    /// What stands in the way, to be shown as an alert.
    public var alert: ErrorPresentation? {
        if case .failed(let presentation) = state { presentation } else { nil }
    }

    /// Whether there is an alert; set to `false`, it is taken away. For the binding of a view.
    public var isAlertShown: Bool {
        get { alert != nil }
        set { if !newValue { dismissAlert() } }
    }

    /// Takes the alert away. Ignored if there is none.
    public func dismissAlert() {
        if case .failed = state { state = .editing }
    }

    /// Does what the person chose in the alert.
    /// - Returns: The action if it is the app's to do, such as writing to support.
    @discardableResult
    public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        switch action {
        case .retryAt(let date):
            if isSubmitEnabled, let failure, let waiting = presenter.stillWaiting(failure, until: date) {
                fail(waiting)
            } else {
                await submit()
            }
        case .retry: await submit()
        case .dismiss, .fixFields, .signIn: dismissAlert()
        case .checkAgain:
            dismissAlert()
            guard let checkAgain else { return action }
            await checkAgain()
        case .requestNewLink, .contactSupport, .openSettings, .updateApp:
            dismissAlert()
            return action
        }
        return nil
    }
}

extension APIError {
    /// A password that no account has.
    fileprivate static let wrongCredentials = APIError(
        kind: .unauthorized,
        code: .authInvalidCredentials,
        recovery: .fixFields,
        context: "user_login",
        attempts: 0
    )

    /// Whoever is signing in has no session that could have expired: a 401 without a code of its own means the credentials.
    fileprivate var asSignInRefusal: APIError {
        guard kind == .unauthorized, recovery == .signIn else { return self }
        var refusal = self
        refusal.code = .authInvalidCredentials
        refusal.message = nil
        refusal.recovery = .fixFields
        return refusal
    }
}
