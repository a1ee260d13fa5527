public import ErrorContract
public import ErrorLabContract
public import Foundation
public import Observation
public import ResilientHTTP
import Timekeeping

/// The screen on which an app's developer tries the app's error handling against a server's error lab.
///
/// ```swift
/// #if DEBUG
///     let model = ErrorLabModel(baseURL: url, transport: .urlSession(), language: .english)
/// #endif
/// ```
///
/// A scenario goes through a client like the app's own: give the model the middleware that the app uses, and ``LabRun/exchanges``
/// contains the requests that it repeated. If ``followsAdvice`` is set, the model follows the retry class of the errors that are left: it
/// waits and repeats, refreshes the lab's session, and asks the user to sign in. A canceled run leaves the model as it was before.
@Observable
@MainActor
public final class ErrorLabModel: StandardScreenModel {
    /// The states of the screen.
    public enum State: Sendable {
        /// No scenario was run yet. → `running`
        case idle
        /// A scenario runs. → `finished`, or the earlier state if it was canceled
        case running(LabScenario)
        /// A scenario was run. → `running`
        case finished(LabRun)
    }

    /// The scenarios: those that are built in, until ``load()`` has asked the server.
    public internal(set) var scenarios: [LabScenario]
    /// Why the server's scenarios could not be loaded.
    public internal(set) var loadFailure: APIError?
    /// The state of the screen.
    public internal(set) var state = State.idle
    /// The steps so far of the run in progress, or those of the last run.
    public internal(set) var steps: [LabStep] = []
    /// The error of the last run, until it is dismissed.
    var presentation: ErrorPresentation? {
        didSet { if presentation != nil { signals.countAlert() } }
    }
    /// Whether the model does what an error's retry class says; if not, each run is a single call.
    public var followsAdvice = true
    /// The longest wait before a repeat; a longer one ends the run.
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
    ///   - timeout: The time that a call may take, unless its scenario says otherwise.
    ///   - root: The path that the lab is mounted at.
    ///   - clock: The clock of waits.
    ///   - wallClock: The local time, from which `ErrorPresentation.Action.retryAt(_:)` counts.
    ///   - newSession: Makes names of sessions: letters, digits and `._-`, at most 64.
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

    /// Loads the server's scenarios: it may have its own codes. The built-in ones stay if the request fails.
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

    /// Runs a scenario in a new session. Ignored while another one runs.
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
    /// The scenarios of one sort.
    public struct Section: Hashable, Sendable, Identifiable {
        /// The sort.
        public let group: LabScenario.Group
        /// The scenarios, in the order of the table.
        public let scenarios: [LabScenario]
        /// The name of the sort.
        public var id: String { group.rawValue }
    }

    /// The scenarios sort by sort, in the order in which each is met first.
    public var sections: [Section] {
        var groups: [LabScenario.Group] = []
        for scenario in scenarios where !groups.contains(scenario.group) { groups.append(scenario.group) }
        return groups.map { group in Section(group: group, scenarios: scenarios.filter { $0.group == group }) }
    }

    /// Whether a scenario runs.
    public var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// The last run, once it has ended.
    public var lastRun: LabRun? {
        if case .finished(let run) = state { run } else { nil }
    }
}
