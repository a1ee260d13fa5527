import ErrorContract
import Foundation
import Synchronization
import Timekeeping

/// The record of one call. Middleware adds events to the record, and the record passes the events to the listeners.
///
/// The record calls the listeners synchronously in the task of the call, and holds no lock meanwhile. Without listeners, recording an event
/// takes one lock and allocates no memory for the event. At the end of the call, the client reports a summary of all attempts and waits.
///
/// A custom ``ClientMiddleware`` reports its decisions with ``note(_:)``:
///
/// ```swift
/// context.record.note(.waiting(.seconds(1), .gate))
/// ```
public final class CallRecord: Sendable {
    /// The values for the summary at the end of the call, guarded by a mutex.
    private struct State {
        var attempts = 0
        var waits: [CallSummary.Wait] = []
        var status: Int?
        var gaveUp: GiveUpReason?
        var mayHaveTakenEffect = false
    }

    /// The number of the call, which is unique in the process.
    public let call: UInt64
    private let name: String?
    private let endpoint: Endpoint
    /// The time at which the call began, on the clock of its environment.
    let begin: Duration
    private let environment: ClientEnvironment
    private let listeners: [any CallListener]
    private let state = Mutex(State())
    private static let numbers = Atomic<UInt64>(0)

    /// Creates the record of a call. The client calls this initializer. The test of a middleware can also call it.
    /// - Parameters:
    ///   - name: The name of the operation, such as `user_login`; `nil` if the call has no name.
    ///   - endpoint: The endpoint of the call.
    ///   - environment: Its clocks determine the times in the events.
    ///   - listeners: The listeners. The record passes each event to them in this order.
    public init(name: String?, endpoint: Endpoint, environment: ClientEnvironment, listeners: [any CallListener] = []) {
        call = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
        self.name = name
        self.endpoint = endpoint
        self.environment = environment
        self.listeners = listeners
        begin = environment.clock.now
    }

    /// The number of requests that have been passed to the transport.
    public var attempts: Int { state.withLock(\.attempts) }

    /// Whether an attempt received no response although the server may have performed the request.
    public var mayHaveTakenEffect: Bool { state.withLock(\.mayHaveTakenEffect) }

    /// Records that an attempt received no response although the server may have performed the request.
    func noteLostResponse() { state.withLock { $0.mayHaveTakenEffect = true } }

    /// Whether there are listeners. Without listeners, the client doesn't record the ends of attempts.
    var isHeard: Bool { !listeners.isEmpty }

    /// Records an event and passes it to the listeners.
    /// - Parameter kind: The event. The summary of the call contains the attempts, the waits, and the reason why the call was not retried.
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

    /// Passes the end of the call with its summary to the listeners.
    ///
    /// - Parameter message: The error message, without texts from the server; `nil` for a success. The record evaluates this argument only
    ///   if there are listeners.
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

    /// Passes an event to the listeners.
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
