import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP
import Timekeeping

/// The model of the screen on which a user requests a reset link.
///
/// After a request that the server accepted, the button is disabled for ``cooldown``, independent of the server's own limit. A failed or
/// refused request causes no cooldown. The button's title, ``requestTitle``, shows the remaining seconds. A view runs ``runCountdown()``
/// while ``isCoolingDown`` is `true`:
///
/// ```swift
/// .task(id: model.isCoolingDown) { await model.runCountdown() }
/// ```
@Observable
@MainActor
public final class ForgotPasswordModel: StandardScreenModel {
    /// The states of the screen. In the description of a state, an arrow (→) precedes the states that can follow.
    public enum State: Hashable, Sendable {
        /// The user edits the form. → `requesting`, `failed`
        case editing
        /// The request is in flight. → `requested`, `failed`, `editing` if it was canceled or the server refused the address
        case requesting
        /// The server has accepted the request. The response doesn't reveal whether the account exists. → `requesting`,
        /// `failed`
        case requested(message: String)
        /// An error is shown. → `requesting`, `editing`, or `requested` during the cooldown
        case failed(ErrorPresentation)
    }

    /// The time between an accepted request and the next one: 60 s. It prevents a user who is waiting for an email from requesting several
    /// emails.
    public static let cooldown = Cooldown.length

    /// The typed address.
    public var email: String {
        didSet { if email != oldValue { problems[.email] = nil } }
    }
    /// The state of the screen.
    public private(set) var state = State.editing {
        didSet { if case .failed = state { signals.countAlert() } }
    }
    /// The seconds until the button is enabled again; 0 if it is enabled. ``runCountdown()`` updates the value.
    public var secondsLeft: Int { pause.secondsLeft }

    private let client: AccountClient
    private let pause: Cooldown
    @ObservationIgnored private var submit = RepeatedSubmit<String>()

    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - email: The initial address.
    ///   - clock: The clock of the cooldown.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init<C: Clock>(
        client: AccountClient,
        language: Language,
        email: String = "",
        clock: C = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) where C.Duration == Duration {
        self.client = client.speaking(language)
        self.email = email
        pause = Cooldown(MonotonicClock(clock))
        super.init(language: language, catalogue: client.api.catalogue, wallClock: wallClock)
    }

    /// Requests a link. Does nothing while a request is in flight. During the cooldown, shows an alert with the remaining time instead.
    public func request() async {
        guard state != .requesting else { return }
        failure = nil
        problems = FieldProblems()
        pause.update()
        guard !isCoolingDown else {
            state = .failed(
                presenter.notice(title: ContractText.resetCooldownTitle, ContractText.resetCooldown(seconds: secondsLeft))
            )
            return
        }
        let address: EmailAddress
        do throws(EmailRefusal) {
            address = try EmailAddress(email)
        } catch {
            signals.focus(.email)
            state = .failed(presenter.problem(error))
            return
        }
        state = .requesting
        signals.announce(presenter.text(ScreenText.sendingLink))
        do throws(APIError) {
            _ = try await client.requestPasswordReset(email: address, submission: submit.submission(of: address.text))
            submit.end()
            pause.start()
            state = .requested(message: requestedText)
            signals.announce(requestedText)
        } catch {
            guard !error.isAbandoned else {
                state = .editing
                return
            }
            fail(error)
        }
    }

    /// Updates ``secondsLeft`` once per second, and returns when the value is 0. Without a cooldown, the method returns at once. If the
    /// task is canceled, the method returns early, but the cooldown continues. Call the method again to continue the updates.
    public func runCountdown() async { await pause.run() }

    /// The text after a request. It is the same for every address and every server, so it doesn't reveal whether the account exists.
    private var requestedText: String { presenter.text(ContractText.resetRequested) }

    override var isInFlight: Bool { state == .requesting }

    override func retry() async { await request() }

    override func fail(_ error: APIError) {
        failure = error
        guard !showProblems(of: error, at: [.email]) else {
            state = .editing
            return
        }
        var shown = error.withoutSession
        if error.kind == .rateLimited {
            shown.presentationText = ContractText.resetLimited(wait: error.retryAfter)
        }
        state = .failed(presenter.presentation(of: shown))
    }

    override public var alert: ErrorPresentation? {
        if case .failed(let presentation) = state { presentation } else { nil }
    }

    override public func dismissAlert() {
        guard case .failed = state else { return }
        state = isCoolingDown ? .requested(message: requestedText) : .editing
    }

    @discardableResult
    override public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        await super.perform(action == .requestNewLink ? .retry : action)
    }
}

extension ForgotPasswordModel {
    /// Whether the button is disabled after an accepted request.
    public var isCoolingDown: Bool { secondsLeft > 0 }

    /// Whether the button is enabled.
    public var isRequestEnabled: Bool { state != .requesting && !isCoolingDown }

    /// The title of the button: the progress while the request is in flight, then the countdown.
    public var requestTitle: String {
        state == .requesting ? presenter.text(ScreenText.sendingLink) : cooldownText ?? presenter.text(ContractText.sendLink)
    }

    /// The text about the last accepted request; `nil` if there is none.
    public var requestedMessage: String? {
        if case .requested(let message) = state { message } else { nil }
    }

    /// Handles Return in the field: requests a link. During the cooldown, an alert with the remaining time is shown instead.
    /// - Parameter field: The field with the focus. This screen has one field.
    public func returnPressed(in field: AccountField) { work.start { await self.request() } }

    /// The text of the countdown.
    public var cooldownText: String? {
        isCoolingDown ? presenter.text(ContractText.resetCooldown(seconds: secondsLeft)) : nil
    }
}
