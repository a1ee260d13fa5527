public import ErrorContract
public import ErrorLabContract
public import Foundation
public import Observation
public import ResilientHTTP
import Timekeeping

/// The model of the screen on which a developer tests the app's error handling against an error lab. An error lab is the part of a
/// development server that produces failures on demand.
///
/// ```swift
/// #if DEBUG
///     let model = ErrorLabModel(baseURL: url, transport: .urlSession(), language: .english)
/// #endif
/// ```
///
/// The model makes the calls of a scenario with its own client. Pass the middleware of the app's client, so that the model's client behaves
/// like the app's client. ``LabRun/exchanges`` contains all requests, including the retries by the middleware.
///
/// Sometimes, a call fails in spite of the middleware. If ``followsAdvice`` is `true`, the model then acts according to the error's retry
/// class: it waits and retries, or it refreshes its access token and retries. If the error needs a sign-in, the run ends with an alert.
/// ``perform(_:)`` with the alert's action `signIn` requests valid credentials and runs the scenario again.
///
/// Each ``run(_:)`` begins a new lab session. The server counts the calls of a lab session, so that a scenario can have a sequence of
/// different results. If a run is canceled, the model restores the ``state`` and the ``steps`` of the earlier run.
@Observable
@MainActor
public final class ErrorLabModel: StandardScreenModel {
    /// The states of the screen. In the description of a state, an arrow (→) precedes the states that can follow.
    public enum State: Sendable {
        /// No scenario has run yet. → `running`
        case idle
        /// A scenario is running. → `finished`, or the earlier state if it was canceled
        case running(LabScenario)
        /// A scenario has ended. → `running`
        case finished(LabRun)
    }

    /// The scenarios. These are the built-in scenarios until ``load()`` has loaded the scenarios of the server.
    public internal(set) var scenarios: [LabScenario]
    /// The reason why the last ``load()`` failed; `nil` if it succeeded.
    public internal(set) var loadFailure: APIError?
    /// The state of the screen.
    public internal(set) var state = State.idle
    /// The steps of the current run so far. After the run, its steps remain until the next run.
    public internal(set) var steps: [LabStep] = []
    /// The alert about the error of the last run; `nil` after the user has dismissed it.
    var presentation: ErrorPresentation? {
        didSet { if presentation != nil { signals.countAlert() } }
    }
    /// Whether the model retries according to the retry class of an error. If `false`, a run ends at its first error.
    public var followsAdvice = true
    /// The maximum delay before a retry. If the server requests a longer delay, the run ends.
    public var maximumWait = Duration.seconds(10)

    let client: APIClient
    let recorder: LabRecorder
    let stopwatch: MonotonicClock
    let root: String
    let newSession: @Sendable () -> String
    @ObservationIgnored var session = ""
    @ObservationIgnored var tokens: LabTokens?
    @ObservationIgnored var sentBefore = 0

    /// Creates the model.
    /// - Parameters:
    ///   - baseURL: The server's address.
    ///   - transport: The HTTP engine.
    ///   - middleware: The middleware of the app's client, with the outermost first.
    ///   - language: The language of the errors.
    ///   - timeout: The maximum duration of a call, unless its scenario specifies another timeout.
    ///   - root: The path at which the lab is mounted.
    ///   - clock: The clock for delays and durations.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    ///   - newSession: Returns the name of a new lab session. A name has at most 64 characters: letters, digits and `._-`.
    public init<C: Clock>(
        baseURL: URL,
        transport: any HTTPTransport,
        middleware: [any ClientMiddleware] = [],
        language: Language,
        timeout: Duration = .seconds(30),
        root: String = LabPath.root,
        clock: C = ContinuousClock(),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        newSession: @escaping @Sendable () -> String = { UUID().uuidString.lowercased() }
    ) where C.Duration == Duration {
        stopwatch = MonotonicClock(clock)
        recorder = LabRecorder(stopwatch: stopwatch)
        client = APIClient(
            baseURL: baseURL,
            transport: transport,
            language: language,
            timeout: timeout,
            middleware: middleware + [recorder],
            environment: ClientEnvironment(clock: MonotonicClock(clock), wallClock: wallClock)
        )
        scenarios = LabScenario.all(root: root)
        self.root = root
        self.newSession = newSession
        super.init(language: language, catalogue: client.catalogue, wallClock: wallClock)
    }

    /// Loads the server's scenarios. They can include scenarios for the server's own error codes. If the request fails, ``scenarios``
    /// remains unchanged.
    public func load() async {
        do throws(APIError) {
            let listing: LabListing = try await client.get(root + LabPath.scenarios, context: LabRecorder.context)
            scenarios = listing.scenarios
            loadFailure = nil
        } catch {
            guard !error.isAbandoned else { return }
            loadFailure = error
        }
    }

    /// Runs a scenario in a new lab session. Does nothing while another scenario runs.
    /// - Parameter scenario: A scenario of ``scenarios``.
    public func run(_ scenario: LabScenario) async {
        guard !isRunning else { return }
        session = newSession()
        (tokens, sentBefore) = (nil, 0)
        await run(scenario, isSignedIn: false)
    }

    /// Runs the last scenario again in the same lab session, so that a sequence of results continues. Does nothing before the first run, or
    /// while a scenario is running.
    public func runAgain() async {
        guard let run = lastRun else { return }
        await self.run(run.scenario, isSignedIn: false)
    }

    override public var alert: ErrorPresentation? { presentation }

    override public func dismissAlert() { presentation = nil }

    @discardableResult
    override public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        guard let run = lastRun else { return nil }
        guard action == .signIn else { return await super.perform(action) }
        await self.run(run.scenario, isSignedIn: true)
        return nil
    }

    override func retry() async { await runAgain() }

    override func fail(_ error: APIError) { presentation = presenter.presentation(of: error) }
}

extension ErrorLabModel {
    /// The scenarios of one group.
    public struct Section: Hashable, Sendable, Identifiable {
        /// The group.
        public let group: LabScenario.Group
        /// The scenarios, in the order of ``ErrorLabModel/scenarios``.
        public let scenarios: [LabScenario]
        /// The name of the group.
        public var id: String { group.rawValue }
    }

    /// The scenarios by group, in the order of their first occurrence.
    public var sections: [Section] {
        var groups: [LabScenario.Group] = []
        for scenario in scenarios where !groups.contains(scenario.group) { groups.append(scenario.group) }
        return groups.map { group in Section(group: group, scenarios: scenarios.filter { $0.group == group }) }
    }

    /// Whether a scenario is running.
    public var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// The last run; `nil` before the first run, and while a scenario is running.
    public var lastRun: LabRun? {
        if case .finished(let run) = state { run } else { nil }
    }
}
