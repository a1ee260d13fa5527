import AccountContract
public import ErrorContract
public import Foundation
public import Observation

/// The model of the screen on which a user creates an account.
///
/// After a success, ``result`` is the signed-in account, or the text that asks the user to check the mailbox. In the second case, the app
/// shows the screen of ``makeCheckEmailModel(clock:)``:
///
/// ```swift
/// switch model.result {
/// case .signedIn: showContent()
/// case .checkEmail: show(model.makeCheckEmailModel())
/// case nil: break
/// }
/// ```
@Observable
@MainActor
public final class RegisterModel: FormModel {
    /// The result of the registration; `nil` until the server has accepted it.
    public private(set) var result: RegistrationResult?
    private let asksForPassword: Bool

    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The language of the user. The account's emails are in the same language.
    ///   - asksForPassword: Whether the user chooses a password on this screen. Pass `false` for a server with blind registration, which
    ///     creates an account only after the user has opened an emailed link. The user then chooses the password after opening the link.
    ///   - rules: The rules that a password must satisfy before it is sent.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        client: AccountClient,
        language: Language,
        asksForPassword: Bool = true,
        rules: PasswordRules = PasswordRules(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.asksForPassword = asksForPassword
        super.init(
            [.firstName, .email] + (asksForPassword ? [.password] : []),
            FormTexts(
                title: ContractText.createAccount,
                progress: ContractText.creatingAccount,
                labels: [.password: ContractText.passwordLabel]
            ),
            FormContext(client: client, language: language, rules: rules, wallClock: wallClock)
        )
    }

    override func send(_ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        guard let email = input.email, let firstName = input.firstName else { throw .incompleteForm }
        let result = try await client.register(
            email: email,
            password: input.password,
            firstName: firstName,
            submission: submission
        )
        self.result = result
        return switch result {
        case .signedIn: presenter.text(ContractText.accountCreated)
        case .checkEmail(let message): message
        }
    }

    /// Creates the model of the screen that asks the user to open the link in the email. Returns `nil` if the address or the first name is
    /// invalid.
    /// - Parameter clock: The clock of the countdown until the next email. A test passes a manual clock.
    public func makeCheckEmailModel(clock: some Clock<Duration> = ContinuousClock()) -> CheckEmailModel? {
        guard let email = try? EmailAddress(self[.email]), let firstName = try? FirstName(self[.firstName]) else { return nil }
        return CheckEmailModel(
            .registration(firstName),
            email: email,
            client: client,
            language: language,
            clock: clock,
            wallClock: presenter.wallClock
        )
    }
}
