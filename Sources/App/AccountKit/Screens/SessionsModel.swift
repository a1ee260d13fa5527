public import AccountContract
public import ErrorContract
public import Foundation
public import Observation
import ResilientHTTP

/// The model of the list of the user's sessions.
///
/// A view calls ``load()`` when it appears, and starts ``end(_:)`` and ``endOthers()`` with `work.start(_:)`. While the model loads the
/// list again, ``sessions`` contains the earlier rows. They also remain if loading fails.
@Observable
@MainActor
public final class SessionsModel: StandardScreenModel {
    /// The states of the screen. In the description of a state, an arrow (→) precedes the states that can follow.
    public enum State: Hashable, Sendable {
        /// The list is not loaded, or it is shown. → `loading`, `ending`
        case idle
        /// The request for the list is in flight. → `idle`, `failed`
        case loading
        /// The request that ends the session with this id is in flight. If the id is `nil`, the request ends all other sessions. →
        /// `loading`, `failed`, `idle` if it was canceled
        case ending(UserID?)
        /// An error is shown. → `idle`, `loading`, `ending`
        case failed(ErrorPresentation)
    }

    /// The sessions, most recently used first; `nil` before the first response.
    public private(set) var sessions: [SessionDescription]?
    /// The state of the screen.
    public private(set) var state = State.idle {
        didSet { if case .failed = state { signals.countAlert() } }
    }
    private let client: AccountClient
    private let timeZone: TimeZone
    /// The failed action, which ``retry()`` starts again: ending one session, ending all other sessions, or loading the list.
    @ObservationIgnored private var failed: State?

    /// Creates the model.
    /// - Parameters:
    ///   - client: The account API. The model uses a copy of it with the language of the screen.
    ///   - language: The user's language.
    ///   - timeZone: The time zone of the shown times.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    public init(
        client: AccountClient,
        language: Language,
        timeZone: TimeZone = .current,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.client = client.speaking(language)
        self.timeZone = timeZone
        super.init(language: language, catalogue: client.api.catalogue, wallClock: wallClock)
    }

    /// Loads the list. Does nothing while a request is in flight.
    public func load() async {
        guard !isInFlight else { return }
        signals.announce(presenter.text(ContractText.loadingDevices))
        await run(.loading) { () async throws(APIError) in nil }
    }

    /// Ends a session of another device. Does nothing while a request is in flight, or if the session belongs to this device.
    /// - Parameter session: A session of the list.
    public func end(_ session: SessionDescription) async {
        guard !isInFlight, !session.isCurrent else { return }
        await end(session.id)
    }

    /// Ends all sessions except the session of this device. Does nothing while a request is in flight.
    public func endOthers() async {
        guard !isInFlight else { return }
        await run(.ending(nil)) { [client] () async throws(APIError) in
            try await client.endOtherSessions()
            return ContractText.otherDevicesSignedOut
        }
    }

    private func end(_ id: UserID) async {
        await run(.ending(id)) { [client] () async throws(APIError) in
            try await client.endSession(id)
            return ContractText.deviceSignedOut
        }
    }

    /// Performs an action: makes its change, and then loads the list. For an action that only loads the list, `change` does nothing.
    private func run(_ work: State, _ change: () async throws(APIError) -> LocalizedText?) async {
        state = work
        do throws(APIError) {
            if let text = try await change() { signals.announce(presenter.text(text)) }
            state = .loading
            sessions = try await client.sessions()
            state = .idle
        } catch {
            guard !error.isAbandoned else {
                state = .idle
                return
            }
            // If only the list could not be loaded, a retry must not repeat the change.
            failed = state
            fail(error)
        }
    }

    override var isInFlight: Bool {
        switch state {
        case .loading, .ending: true
        case .idle, .failed: false
        }
    }

    override func retry() async {
        switch failed {
        case .ending(let id?): await end(id)
        case .ending(nil): await endOthers()
        default: await load()
        }
    }

    override func fail(_ error: APIError) {
        failure = error
        state = .failed(presenter.presentation(of: error))
    }

    override public var alert: ErrorPresentation? {
        if case .failed(let presentation) = state { presentation } else { nil }
    }

    override public func dismissAlert() {
        if case .failed = state { state = .idle }
    }
}

extension SessionsModel {
    /// The title of the screen.
    public var title: String { presenter.text(ContractText.devices) }

    /// Whether the buttons are enabled.
    public var isEnabled: Bool { !isInFlight }

    /// Whether there are sessions of other devices.
    public var hasOthers: Bool { sessions?.contains { !$0.isCurrent } == true }

    /// The title of the button that ends all other sessions.
    public var endOthersTitle: String { presenter.text(ContractText.signOutOtherDevices) }

    /// The title of the button that ends a session.
    public var endTitle: String { presenter.text(ContractText.signOutDevice) }

    /// The title of the button that replaces the list before the first response: the progress, or "Try Again" after a failure.
    public var loadTitle: String { presenter.text(isInFlight ? ContractText.loadingDevices : ContractText.retry) }

    /// Returns the name of a session's device.
    /// - Parameter session: A session of the list.
    /// - Returns: The name that the device reported at sign-in, or a text for an unknown device.
    public func name(of session: SessionDescription) -> String {
        session.deviceName ?? presenter.text(ContractText.unknownDevice)
    }

    /// Returns the line to show under the name: a text that marks this device, or the time of the last use of another device.
    /// - Parameter session: A session of the list.
    public func detail(of session: SessionDescription) -> String {
        guard !session.isCurrent else { return presenter.text(ContractText.thisDevice) }
        let style = Date.FormatStyle(
            date: .abbreviated,
            time: .shortened,
            locale: Locale(identifier: language.rawValue),
            timeZone: timeZone
        )
        return presenter.text(ContractText.lastUsed(session.lastUsedAt.formatted(style)))
    }
}
