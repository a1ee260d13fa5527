public import ErrorContract
public import ErrorLabContract
public import Foundation
public import Observation
public import ResilientHTTP
import Timekeeping

/// The model of the screen on which a developer tests the app's error handling against a server's error lab.
///
/// ```swift
/// #if DEBUG
///     let model = ErrorLabModel(baseURL: url, transport: .urlSession(), language: .english)
/// #endif
/// ```
///
/// The model makes the calls of a scenario with its own client. Pass the middleware of the app's client, so that this client behaves like
/// the app's client. ``LabRun/exchanges`` contains all requests, including those that the middleware retried.
///
/// Some errors remain that the middleware did not handle. If ``followsAdvice`` is `true`, the model handles them according to their retry
/// class: it waits and retries, refreshes the lab's session, or asks the user to sign in. A canceled run leaves the model unchanged.
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

    /// The scenarios. They are the built-in scenarios until ``load()`` has loaded the scenarios of the server.
    public internal(set) var scenarios: [LabScenario]
    /// The reason why the server's scenarios could not be loaded.
    public internal(set) var loadFailure: APIError?
    /// The state of the screen.
    public internal(set) var state = State.idle
    /// The steps so far of the run in progress, or those of the last run.
    public internal(set) var steps: [LabStep] = []
    /// The error of the last run, until it is dismissed.
    var presentation: ErrorPresentation? {
        didSet { if presentation != nil { signals.countAlert() } }
    }
    /// Whether the model retries according to the retry class of an error. If `false`, each run is a single call.
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
    ///   - middleware: The app's middleware between its client and the transport, the first outermost.
    ///   - language: The language of the errors.
    ///   - timeout: The maximum duration of a call, unless its scenario specifies another one.
    ///   - root: The path at which the lab is mounted.
    ///   - clock: The clock of delays.
    ///   - wallClock: Returns the local time, from which the model computes the time of `ErrorPresentation.Action.retryAt(_:)`.
    ///   - newSession: Creates names of sessions: letters, digits and `._-`, at most 64.
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

    /// Loads the server's scenarios, which may include codes of the server's own catalogue. If the request fails, the built-in scenarios
    /// remain.
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

    /// Runs a scenario in a new session. Does nothing while another scenario runs.
    /// - Parameter scenario: A scenario of ``scenarios``.
    public func run(_ scenario: LabScenario) async {
        guard !isRunning else { return }
        session = newSession()
        (tokens, sentBefore) = (nil, 0)
        await run(scenario, isSignedIn: false)
    }

    /// Runs the last scenario again in the same session, so that a sequence continues.
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
        /// The scenarios, in the order of the table.
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

    /// The last run, once it has ended.
    public var lastRun: LabRun? {
        if case .finished(let run) = state { run } else { nil }
    }
}
