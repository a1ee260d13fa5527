public import AccountContract
public import ErrorContract

extension ResetPasswordModel {
    /// The texts of the screen: the client's catalogue, with the app's own words.
    public var catalogue: ErrorCatalogue { presenter.catalogue }

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

    /// The title of the button that stands in place of the form until the link is validated: the progress, or "Try Again" after a failure.
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

    /// The address of the account, if the link or the server named it: for a read-only field, by which password managers find the account.
    public var username: String? { email?.text }

    /// The message about a field, shown at the field.
    public func problem(at field: AccountField) -> String? {
        switch field {
        case .email: nil
        case .password: passwordProblem
        case .confirmation: matchProblem
        }
    }

    /// The field that should get the focus. Each change is a request.
    public var focusRequest: FocusRequest? { signals.focusRequest }

    /// The text that VoiceOver should speak. Each change is an announcement.
    public var announcement: ScreenAnnouncement? { signals.announcement }

    /// Handles Return in a field: moves the focus to the next field, and submits after the last one.
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

    /// The line over the fields, with the user's name if it is known.
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

    /// The error to be shown as an alert.
    public var alert: ErrorPresentation? {
        switch state {
        case .checkFailed(let presentation), .failed(let presentation): presentation
        default: nil
        }
    }

    /// The alert with its identity.
    public var currentAlert: ScreenAlert? { alert.map { ScreenAlert(id: signals.alertID, presentation: $0) } }

    /// Whether there is an alert; `false` dismisses it. For the binding of a view.
    public var isAlertShown: Bool {
        get { alert != nil }
        set { if !newValue { dismissAlert() } }
    }

    /// Dismisses the alert. Ignored if there is none.
    public func dismissAlert() {
        switch state {
        case .checkFailed: state = .unchecked
        case .failed: state = .editing
        default: break
        }
    }

    /// Dismisses an alert. Ignored if another one replaced it.
    public func dismissAlert(_ id: ScreenAlert.ID) {
        if id == signals.alertID { dismissAlert() }
    }

    /// Creates the screen that follows a success, with the address filled in.
    public func makeSignInModel() -> SignInModel {
        SignInModel(client: client, language: language, email: email?.text ?? "", wallClock: presenter.wallClock)
    }

    /// Creates the screen that follows an expired or used link, with the address if the link named it.
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
