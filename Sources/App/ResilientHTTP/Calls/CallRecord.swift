import ErrorContract
import Foundation
import Synchronization
import Timekeeping

/// What has happened in one call so far; middleware notes into it, listeners hear of it.
public final class CallRecord: Sendable {
    private struct State {
        var attempts = 0
        var waits: [CallSummary.Wait] = []
        var status: Int?
        var gaveUp: GiveUpReason?
    }

    /// The number of the call; unique in the process.
    public let call: UInt64
    private let name: String?
    private let endpoint: Endpoint
    /// When the call began, on the clock of its surroundings.
    let begin: Duration
    private let environment: ClientEnvironment
    private let listeners: [any CallListener]
    private let state = Mutex(State())
    private static let numbers = Atomic<UInt64>(0)

    /// Opens the record of a call.
    public init(name: String?, endpoint: Endpoint, environment: ClientEnvironment, listeners: [any CallListener] = []) {
        call = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
        self.name = name
        self.endpoint = endpoint
        self.environment = environment
        self.listeners = listeners
        begin = environment.clock.now
    }

    /// How many requests were handed to the transport so far.
    public var attempts: Int { state.withLock(\.attempts) }

    /// Whether anybody listens. If not, the ends of attempts needn't be noted.
    var isHeard: Bool { !listeners.isEmpty }

    /// Notes something, and tells the listeners.
    public func note(_ kind: CallEvent.Kind) {
        state.withLock { state in
            switch kind {
            case .attemptStarted(let number): state.attempts = number
            case .attemptFinished(_, let outcome): state.status = outcome.status
            case .waiting(let duration, let reason): state.waits.append(.init(duration: duration, reason: reason))
            case .gaveUp(let reason): state.gaveUp = reason
            case .refusedLocally, .refreshed, .finished: break
            }
        }
        report(kind)
    }

    /// Notes the end of the call.
    /// - Parameter message: The text for the error without the server's own words; made only if there are listeners.
    func close(_ error: APIError?, message: @autoclosure () -> String? = nil) {
        guard !listeners.isEmpty else { return }
        let text = message()
        let summary = state.withLock { state in
            CallSummary(
                attempts: state.attempts,
                waits: state.waits,
                status: state.status,
                code: error?.code,
                kind: error?.kind,
                message: text,
                requestID: error?.requestID,
                serverTimestamp: error?.serverTimestamp,
                gaveUp: error == nil ? nil : state.gaveUp,
                duration: environment.clock.now - begin
            )
        }
        report(.finished(summary))
    }

    private func report(_ kind: CallEvent.Kind) {
        guard !listeners.isEmpty else { return }
        let event = CallEvent(
            call: call,
            name: name,
            endpoint: endpoint,
            timestamp: environment.wallClock(),
            elapsed: environment.clock.now - begin,
            kind: kind
        )
        for listener in listeners { listener.hear(event) }
    }
}
