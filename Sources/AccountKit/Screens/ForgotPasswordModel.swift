import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP

/// The screen on which a person asks for a reset link.
///
/// After a request that the server accepted the button rests for ``cooldown``, whatever the server's own limit is; a request
/// that failed or was refused costs no rest. A view runs ``runCountdown()`` while ``isCoolingDown``:
///
/// ```swift
/// .task(id: model.isCoolingDown) { await model.runCountdown() }
/// ```
@Observable
@MainActor
public final class ForgotPasswordModel {
    /// Where the screen stands.
    public enum State: Hashable, Sendable {
        /// The person types. → `requesting`, `failed`
        case editing
        /// The server is being asked. → `requested`, `failed`, `editing` if it was cancelled
        case requesting
        /// The server has accepted; whether there is an account, nobody is told. → `requesting`, `failed`
        case requested(message: String)
        /// Something is in the way. → `requesting`, `editing`, or `requested` while the button rests
        case failed(ErrorPresentation)
    }

    /// How long the button rests after a request.
    public static let cooldown = Duration.seconds(60)

    /// The address as it is typed.
    public var email: String
    /// Where the screen stands.
    public private(set) var state = State.editing
    /// The seconds until the button works again, 0 if it does; moved on by ``runCountdown()``.
    public private(set) var secondsLeft = 0

    /// The language of the screen, and of the server's texts.
    public let language: Language
    /// Finds out whether a request took effect whose response was lost. ``perform(_:)`` calls it for
    /// ``ErrorContract/ErrorPresentation/Action/checkAgain``, and never sends the request again; if it is `nil`, the action is returned.
    @ObservationIgnored public var checkAgain: (@MainActor () async -> Void)?
    private let client: AccountClient
    private let presenter: Presenter
    private let stopwatch: Stopwatch
    @ObservationIgnored private var cooldownEnd: Duration?
    @ObservationIgnored private var failure: APIError?
    @ObservationIgnored private var submit = RepeatedSubmit<EmailAddress>()

    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API; its language is set to the screen's.
    ///   - language: The person's language.
    ///   - email: The address that stands in the field at first.
    ///   - clock: What the rest is measured on.
    ///   - wallClock: The local time, from which ``ErrorContract/ErrorPresentation/Action/retryAt(_:)`` counts.
    public init<C: Clock>(
        client: AccountClient,
        language: Language,
        email: String = "",
        clock: C = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) where C.Duration == Duration {
        self.client = client.speaking(language)
        self.language = language
        self.email = email
        self.stopwatch = Stopwatch(clock)
        self.presenter = Presenter(language: language, catalogue: client.api.catalogue, wallClock: wallClock)
    }

    /// Asks for a link. Ignored while it is being done; refused while the button rests.
    public func request() async {
        guard state != .requesting else { return }
        failure = nil
        updateSecondsLeft()
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
            state = .failed(presenter.problem(error))
            return
        }
        state = .requesting
        do throws(APIError) {
            _ = try await client.requestPasswordReset(email: address, submission: submit.submission(of: address))
            submit.end()
            cooldownEnd = stopwatch.elapsed + Self.cooldown
            updateSecondsLeft()
            state = .requested(message: requestedText)
        } catch {
            guard !error.isAbandoned else {
                state = .editing
                return
            }
            fail(error)
        }
    }

    /// Counts ``secondsLeft`` down, once a second, and returns when it is 0; at once if the button does not rest. Cancelled, it
    /// returns as well, and may be called again: the time goes on.
    public func runCountdown() async {
        updateSecondsLeft()
        while secondsLeft > 0, let cooldownEnd {
            do {
                try await stopwatch.sleep(until: cooldownEnd - .seconds(secondsLeft - 1))
            } catch {
                return
            }
            updateSecondsLeft()
        }
    }

    private func updateSecondsLeft() {
        let left = cooldownEnd.map { max(0, ($0 - stopwatch.elapsed).wholeSecondsRoundedUp) } ?? 0
        if left == 0 { cooldownEnd = nil }
        if left != secondsLeft { secondsLeft = left }
    }

    /// The same for every address and every server, so that it never tells whether there is an account.
    private var requestedText: String { presenter.text(ContractText.resetRequested) }

    private func fail(_ error: APIError) {
        failure = error
        var shown = error.withoutSession
        if error.kind == .rateLimited {
            shown.message = presenter.text(ContractText.resetLimited(wait: error.retryAfter))
        }
        state = .failed(presenter.presentation(of: shown))
    }
}

extension ForgotPasswordModel {
    /// The texts of the screen: the client's catalogue, with the app's own words.
    public var catalogue: ErrorCatalogue { presenter.catalogue }

    /// Whether the button rests after a request.
    public var isCoolingDown: Bool { secondsLeft > 0 }

    /// Whether the button works.
    public var isRequestEnabled: Bool { state != .requesting && !isCoolingDown }

    /// The line beside the button while it rests.
    public var cooldownText: String? {
        isCoolingDown ? presenter.text(ContractText.resetCooldown(seconds: secondsLeft)) : nil
    }

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
        guard case .failed = state else { return }
        state = isCoolingDown ? .requested(message: requestedText) : .editing
    }

    /// Does what the person chose in the alert.
    /// - Returns: The action if it is the app's to do, such as writing to support.
    @discardableResult
    public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        switch action {
        case .retryAt(let date):
            if state != .requesting, let failure, let waiting = presenter.stillWaiting(failure, until: date) {
                fail(waiting)
            } else {
                await request()
            }
        case .retry, .requestNewLink: await request()
        case .dismiss, .fixFields: dismissAlert()
        case .checkAgain:
            dismissAlert()
            guard let checkAgain else { return action }
            await checkAgain()
        case .signIn, .contactSupport, .openSettings, .updateApp:
            dismissAlert()
            return action
        }
        return nil
    }
}
