public import AccountContract
public import ErrorContract

extension ResetPasswordModel {
    /// The texts of the screen: the client's catalogue, with the app's own words.
    public var catalogue: ErrorCatalogue { presenter.catalogue }

    /// Whether the button works.
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

    /// Whether nothing follows.
    var isOver: Bool {
        switch state {
        case .linkInvalid, .linkExpired, .succeeded, .passwordProbablyChanged: true
        case .unchecked, .checking, .checkFailed, .editing, .passwordRefused, .submitting, .failed: false
        }
    }

    /// How strong the password is, once there is one.
    public var strength: PasswordStrength? { password.isEmpty ? nil : PasswordStrength(of: password) }

    /// The strength in words, for the line under the meter.
    public var strengthText: String? { strength.map { presenter.text($0.text) } }

    /// Whether the two fields are the same; `nil` while the second one is empty.
    public var passwordsMatch: Bool? { confirmation.isEmpty ? nil : password == confirmation }

    /// The line under the second field, while it differs.
    public var matchProblem: String? {
        passwordsMatch == false ? presenter.text(ContractText.passwordsDiffer) : nil
    }

    /// The line under the password field: the server's reason against it.
    public var passwordProblem: String? {
        if case .passwordRefused(let reason) = state { reason } else { nil }
    }

    /// The line over the fields, with the person's name if it is known.
    public var greeting: String { presenter.text(ContractText.resetGreeting(name: firstName)) }

    /// The page that takes the place of the form when the link can't be used (any more).
    public var deadLink: ErrorPresentation? {
        switch state {
        case .linkInvalid(let presentation), .linkExpired(let presentation), .passwordProbablyChanged(let presentation):
            presentation
        default: nil
        }
    }

    /// What is told once the password is changed.
    public var successText: String? {
        if case .succeeded = state { presenter.text(ContractText.resetSucceeded) } else { nil }
    }

    /// What stands in the way, to be shown as an alert.
    public var alert: ErrorPresentation? {
        switch state {
        case .checkFailed(let presentation), .failed(let presentation): presentation
        default: nil
        }
    }

    /// Whether there is an alert; set to `false`, it is taken away. For the binding of a view.
    public var isAlertShown: Bool {
        get { alert != nil }
        set { if !newValue { dismissAlert() } }
    }

    /// Takes the alert away. Ignored if there is none.
    public func dismissAlert() {
        switch state {
        case .checkFailed: state = .unchecked
        case .failed: state = .editing
        default: break
        }
    }

    /// The screen that follows a success, with the address filled in.
    public func makeSignInModel() -> SignInModel {
        SignInModel(client: client, language: language, email: email?.text ?? "", wallClock: presenter.wallClock)
    }

    /// The screen that follows a dead link, with the address filled in if the link named it.
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
