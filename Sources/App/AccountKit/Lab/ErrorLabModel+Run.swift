import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import ResilientHTTP
import Timekeeping

extension ErrorLabModel {
    /// Runs a scenario in the current session.
    /// - Parameter isSignedIn: Whether the user signs in first, to a session of the lab.
    func run(_ scenario: LabScenario, isSignedIn: Bool) async {
        let before = (state, steps)
        state = .running(scenario)
        (steps, presentation) = ([], nil)
        signals.announce("Running \(scenario.name)")
        recorder.start()
        let start = stopwatch.now
        var trial = LabTrial(scenario: scenario, sentBefore: sentBefore)
        let result: Result<LabSuccess, APIError>
        do throws(APIError) {
            result = .success(try await attempt(&trial, isSignedIn: isSignedIn))
        } catch {
            guard !error.isAbandoned else {
                (state, steps) = before
                return
            }
            result = .failure(error)
        }
        sentBefore += sentCalls(of: scenario)
        failure = if case .failure(let error) = result { error } else { nil }
        let shown = failure.map { presenter.presentation(of: $0) }
        state = .finished(
            LabRun(
                scenario: scenario,
                result: result,
                steps: steps,
                exchanges: recorder.exchanges,
                presentation: shown,
                elapsed: stopwatch.now - start,
                differences: trial.differences
            )
        )
        presentation = shown
        if shown == nil { signals.announce("\(scenario.name) succeeded") }
    }

    private func attempt(_ trial: inout LabTrial, isSignedIn: Bool) async throws(APIError) -> LabSuccess {
        if isSignedIn {
            tokens = try await open(.valid)
            steps.append(.signedIn)
            // Beyond what the scenario promises.
            trial.isCompared = false
        } else if tokens == nil {
            tokens = try await open(trial.scenario.credentials)
        }
        var reply = try await succeed(&trial)
        for _ in 1..<max(1, trial.scenario.calls) { reply = try await succeed(&trial) }
        return reply
    }

    /// Calls until it succeeds, or nothing is left to do about an error.
    private func succeed(_ trial: inout LabTrial) async throws(APIError) -> LabSuccess {
        while true {
            do throws(APIError) {
                let reply = try await call(trial.scenario)
                steps.append(.succeeded)
                trial.compare(sent: sentCalls(of: trial.scenario)) { $0.differences(from: reply) }
                return reply
            } catch {
                trial.compare(sent: sentCalls(of: trial.scenario)) { $0.differences(from: error) }
                steps.append(.failed(error.code))
                try await followUp(error, &trial)
            }
        }
    }

    /// Does what comes before the next call.
    /// - Throws: The error if there is none.
    private func followUp(_ error: APIError, _ trial: inout LabTrial) async throws(APIError) {
        guard followsAdvice, !error.isAbandoned else { throw error }
        let progress = LabFollowUp.Progress(
            isSafe: trial.scenario.method == "GET",
            canRefresh: tokens?.refreshToken.isEmpty == false && !trial.hasRefreshed,
            repeats: trial.repeats,
            maximumWait: maximumWait
        )
        switch LabFollowUp(after: error, progress) {
        case .end: throw error
        case .wait(let delay):
            do {
                try await stopwatch.sleep(until: stopwatch.now + delay)
            } catch {
                throw APIError(kind: .cancelled, code: .cancelled, context: LabRecorder.context)
            }
            steps.append(.waited(delay))
            trial.repeats += 1
        case .refresh:
            trial.hasRefreshed = true
            do throws(APIError) {
                let refresh = LabRefresh(refreshToken: tokens?.refreshToken ?? "")
                tokens = try await client.post(root + LabPath.refresh, refresh, context: LabRecorder.context)
                steps.append(.refreshed)
            } catch {
                // The scenario's next promise is about the refresh.
                trial.compare(sent: sentCalls(of: trial.scenario) + 1) { $0.differences(from: error) }
                steps.append(.failed(error.code))
                tokens = nil
                throw error
            }
        }
    }

    private func open(_ credentials: LabScenario.Authorization) async throws(APIError) -> LabTokens? {
        if credentials == .unknown { return LabTokens(accessToken: "nobody.knows", refreshToken: "", lifetimeMilliseconds: 0) }
        guard let path = credentials.path else { return nil }
        let tokens: LabTokens = try await client.post(root + path, [String: String](), context: LabRecorder.context)
        return tokens
    }

    private func call(_ scenario: LabScenario) async throws(APIError) -> LabSuccess {
        var client = client
        if let timeout = scenario.timeoutMilliseconds { client.timeout = .milliseconds(timeout) }
        var headers: HTTPFields = [:]
        headers[.authorization] = tokens.map { "Bearer \($0.accessToken)" }
        let path = scenario.path(session: session)
        guard scenario.method == "POST" else {
            return try await client.get(path, headers: headers, context: LabRecorder.context)
        }
        return try await client.post(path, ["lab": "try"], headers: headers, context: LabRecorder.context)
    }

    /// How many requests for the scenario left the client in this run.
    private func sentCalls(of scenario: LabScenario) -> Int {
        let path = scenario.path(session: session)
        return recorder.exchanges.count { $0.path.hasSuffix(path) }
    }
}

/// A scenario that is being tried.
struct LabTrial {
    let scenario: LabScenario
    var isCompared = true
    var repeats = 0
    var hasRefreshed = false
    private(set) var differences: [String] = []
    private let sentBefore: Int

    /// - Parameter sentBefore: How many requests for the scenario left the client in earlier runs of its session.
    init(scenario: LabScenario, sentBefore: Int) {
        self.scenario = scenario
        self.sentBefore = sentBefore
    }

    /// Compares what came with what the scenario promises for the call.
    /// - Parameter sent: How many requests for the scenario left the client in this run.
    mutating func compare(sent: Int, _ read: (LabExpectation) -> [String]) {
        guard isCompared else { return }
        let call = max(1, sentBefore + sent)
        differences += read(scenario.expectation(ofCall: call)).map { "call \(call): \($0)" }
    }
}

/// The next step of a run after an error, by the error's retry class.
enum LabFollowUp: Hashable, Sendable {
    /// The run ends, and the user decides.
    case end
    /// Waits, and calls again.
    case wait(Duration)
    /// Refreshes the session, and calls again.
    case refresh

    /// How a run stands.
    struct Progress: Hashable, Sendable {
        /// Whether a repeat does no harm, whatever became of the first call.
        var isSafe: Bool
        /// Whether there is a refresh token that was not used in this run.
        var canRefresh: Bool
        /// How often the call was repeated after a wait.
        var repeats = 0
        /// The longest wait.
        var maximumWait: Duration
    }

    /// The most repeats after a wait.
    static let maximumRepeats = 3

    /// The next step after an error. Backing off waits 1, 2 and 4 seconds, without jitter, so that a run can be foreseen.
    init(after error: APIError, _ progress: Progress) {
        switch error.retry {
        case .never, .afterSignIn: self = .end
        case .afterRefresh, .afterRefreshOrSignIn: self = progress.canRefresh ? .refresh : .end
        case .onlyAfterNamedDelay: self = Self.wait(error.retryAfter, progress)
        case .afterDelay: self = Self.wait(error.retryAfter ?? Self.backoff(progress), progress)
        case .withBackoff:
            self = progress.isSafe ? Self.wait(max(Self.backoff(progress), error.retryAfter ?? .zero), progress) : .end
        }
    }

    private static func backoff(_ progress: Progress) -> Duration { .seconds(1 << min(progress.repeats, 10)) }

    private static func wait(_ delay: Duration?, _ progress: Progress) -> LabFollowUp {
        guard let delay, delay <= progress.maximumWait, progress.repeats < maximumRepeats else { return .end }
        return .wait(delay)
    }
}
