import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import ResilientHTTP
import Timekeeping

extension ErrorLabModel {
    /// Runs a scenario in the current lab session, and shows its result. If the run is canceled, the model restores the state and the steps
    /// of the earlier run.
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - isSignedIn: Whether the model first requests valid credentials from the lab, as after a sign-in.
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

    /// Requests the credentials of the scenario, and makes its calls.
    /// - Returns: The last success.
    /// - Throws: The error that ended the run.
    private func attempt(_ trial: inout LabTrial, isSignedIn: Bool) async throws(APIError) -> LabSuccess {
        if isSignedIn {
            tokens = try await open(.valid)
            steps.append(.signedIn)
            // After a sign-in, the results differ from those that the scenario specifies.
            trial.isCompared = false
        } else if tokens == nil {
            tokens = try await open(trial.scenario.credentials)
        }
        var reply = try await succeed(&trial)
        for _ in 1..<max(1, trial.scenario.calls) { reply = try await succeed(&trial) }
        return reply
    }

    /// Makes calls until a call succeeds, or until an error ends the run. Compares each result with the result that the scenario expects.
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

    /// Waits or refreshes the access token before the next call, depending on the error.
    ///
    /// - Throws: The error if the run ends without another call. An error of the kind `cancelled` if the task is canceled during a delay.
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
                // The scenario's next expected result describes the failed refresh.
                trial.compare(sent: sentCalls(of: trial.scenario) + 1) { $0.differences(from: error) }
                steps.append(.failed(error.code))
                tokens = nil
                throw error
            }
        }
    }

    /// Requests the credentials of a scenario from the lab. Returns `nil` if the scenario needs no credentials. Returns an unknown token
    /// without a request.
    private func open(_ credentials: LabScenario.Authorization) async throws(APIError) -> LabTokens? {
        if credentials == .unknown { return LabTokens(accessToken: "nobody.knows", refreshToken: "", lifetimeMilliseconds: 0) }
        guard let path = credentials.path else { return nil }
        let tokens: LabTokens = try await client.post(root + path, [String: String](), context: LabRecorder.context)
        return tokens
    }

    /// Makes one call of a scenario, with its method, timeout and credentials.
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

    /// Returns the number of requests for the scenario that the client sent in this run.
    private func sentCalls(of scenario: LabScenario) -> Int {
        let path = scenario.path(session: session)
        return recorder.exchanges.count { $0.path.hasSuffix(path) }
    }
}

/// The progress of a scenario that is running.
struct LabTrial {
    let scenario: LabScenario
    /// Whether the run compares results with the expected results. After an additional sign-in, it doesn't compare them.
    var isCompared = true
    /// The number of retries after a delay.
    var repeats = 0
    /// Whether the refresh token was used in this run.
    var hasRefreshed = false
    /// The differences so far, each with the number of its call.
    private(set) var differences: [String] = []
    private let sentBefore: Int

    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - sentBefore: The number of requests for the scenario that the client sent in earlier runs in the same lab session.
    init(scenario: LabScenario, sentBefore: Int) {
        self.scenario = scenario
        self.sentBefore = sentBefore
    }

    /// Compares the result of a call with the result that the scenario specifies.
    ///
    /// - Parameter sent: The number of requests for the scenario that the client sent in this run.
    mutating func compare(sent: Int, _ read: (LabExpectation) -> [String]) {
        guard isCompared else { return }
        let call = max(1, sentBefore + sent)
        differences += read(scenario.expectation(ofCall: call)).map { "call \(call): \($0)" }
    }
}

/// The next step of a run after an error. The error's retry class determines the step.
enum LabFollowUp: Hashable, Sendable {
    /// The run ends, and the user decides.
    case end
    /// Waits, and calls again.
    case wait(Duration)
    /// Refreshes the access token, and calls again.
    case refresh

    /// The facts about a run that determine its next step.
    struct Progress: Hashable, Sendable {
        /// Whether the client can send the request again without a second effect. This is true for the method GET.
        var isSafe: Bool
        /// Whether there is a refresh token that was not used in this run.
        var canRefresh: Bool
        /// The number of retries after a delay.
        var repeats = 0
        /// The maximum delay.
        var maximumWait: Duration
    }

    /// The maximum number of retries after a delay.
    static let maximumRepeats = 3

    /// Determines the next step after an error. If the server sends no delay, the delays are 1, 2 and 4 seconds, without jitter, so that a
    /// run is predictable.
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

    /// Returns the delay before the next retry: 1, 2 and 4 seconds for the first three retries.
    private static func backoff(_ progress: Progress) -> Duration { .seconds(1 << min(progress.repeats, 10)) }

    /// Returns the step for a delay. The run ends if there is no delay, if it exceeds the maximum, or after ``maximumRepeats`` retries.
    private static func wait(_ delay: Duration?, _ progress: Progress) -> LabFollowUp {
        guard let delay, delay <= progress.maximumWait, progress.repeats < maximumRepeats else { return .end }
        return .wait(delay)
    }
}
