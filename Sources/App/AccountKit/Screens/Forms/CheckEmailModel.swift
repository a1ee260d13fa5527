public import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP
import Timekeeping

/// The model of the screen that asks the user to open the link in an email, and sends the email again.
///
/// The button is disabled for 60 seconds after each email, and its title counts down. A view runs ``runCountdown()`` while
/// `isCoolingDown` is `true`. `submit()` sends the email again.
@Observable
@MainActor
public final class CheckEmailModel: FormModel {
    /// The email that the user waits for.
    public enum Email: Hashable, Sendable {
        /// The email with the link that creates the account of a blind registration. (Before the user opens the link, there is no account.)
        /// The request for this email contains the first name.
        case registration(FirstName)
        /// The email that verifies the address of an account.
        case verification
    }

    /// The address to which the server sends the email.
    public let email: EmailAddress
    /// The text for the user after the email was sent again; `nil` before.
    override public var notice: String? { sent }
    private var sent: String?
    private let kind: Email
    private let pause: Cooldown

    /// Creates the model.
    /// - Parameters:
    ///   - kind: The email that the user waits for.
    ///   - email: The address of the mailbox.
    ///   - isSent: Whether the email was already requested. If so, the cooldown begins immediately.
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - clock: The clock of the cooldown.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init<C: Clock>(
        _ kind: Email,
        email: EmailAddress,
        isSent: Bool = true,
        client: AccountClient,
        language: Language,
        clock: C = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) where C.Duration == Duration {
        self.kind = kind
        self.email = email
        pause = Cooldown(MonotonicClock(clock))
        super.init(
            [],
            FormTexts(
                title: ContractText.checkEmailTitle,
                introduction: isSent ? ContractText.checkEmail(email.text) : nil,
                button: isSent ? ContractText.sendAgain : ContractText.sendLink,
                progress: ScreenText.sendingLink
            ),
            FormContext(client: client, language: language, wallClock: wallClock)
        )
        if isSent { pause.start() }
    }

    /// The seconds until the button is enabled again; 0 if it is enabled. ``runCountdown()`` updates the value.
    override public var secondsLeft: Int { pause.secondsLeft }

    /// Updates ``secondsLeft`` once per second, and returns when it is 0. If the task is canceled, the method returns early, but the
    /// cooldown continues. Call the method again to continue the updates.
    override public func runCountdown() async { await pause.run() }

    override public var isSubmitEnabled: Bool { super.isSubmitEnabled && !isCoolingDown }

    override public func submit() async {
        pause.update()
        await super.submit()
    }

    override func send(_ input: FormInput, _ submission: Submission) async throws(APIError) -> String {
        switch kind {
        case .verification: return try await client.requestVerification(email: email, submission: submission)
        case .registration(let name):
            let result = try await client.register(email: email, password: nil, firstName: name, submission: submission)
            if case .checkEmail(let message) = result { return message }
            return presenter.text(ContractText.nextStepSent)
        }
    }

    override func succeed(_ message: String) {
        sent = message
        texts.introduction = ContractText.checkEmail(email.text)
        texts.button = ContractText.sendAgain
        pause.start()
        state = .editing
        signals.announce(message)
    }

    override public var submitTitle: String { state == .submitting ? super.submitTitle : cooldownText ?? super.submitTitle }
}
