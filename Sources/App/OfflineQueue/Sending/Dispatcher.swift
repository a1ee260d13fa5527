import ResilientHTTP

/// Decides which request is sent next, and when. The type is a value without I/O. Its methods get the time and random numbers as arguments.
///
/// Invariants: A lane has at most one request in flight (`isBusy`). At most `width` lanes are busy. The search begins after the lane whose
/// request was chosen last, so a lane with many requests doesn't delay other lanes. The states exist only in this process. A process that
/// becomes the sender doesn't know the delays of the earlier sender.
struct Dispatcher: Sendable {
    /// The account whose requests this process can send.
    struct Identity: Hashable, Sendable {
        var server: String
        /// The account; `nil` if no user is signed in, or if the credentials can't be read now.
        var account: String?
        /// Whether the credentials could be read. If `false`, a user may be signed in.
        var isKnown = true
    }

    /// The next step of a drain.
    enum Step: Equatable {
        /// Send a request. The lane of the request is busy until ``ended(_:with:in:at:chance:)`` is called.
        case send(QueuedRequestID, lane: Int)
        /// Nothing can be sent before an instant, at which the delay of a lane ends.
        case wait(until: Duration)
        /// No request can be sent until a call ends, or until the stored requests or the account change.
        case idle
    }

    /// The effect of an ended call on its lane.
    enum Ending: Equatable {
        /// The next request of the lane may be sent.
        case next
        /// The lane waits for this time. The call didn't fail, so the backoff doesn't grow.
        case hold(Duration)
        /// The lane waits after a failure: for the backoff, or for the delay of the server if this delay is longer.
        case backOff(Duration?)
        /// All lanes of the account wait until a user signs in or ``wake()`` is called.
        case pause(QueuePause)
    }

    /// The state of a lane that is sending or delayed. All other lanes have no state.
    private struct LaneState {
        var isBusy = false
        var failures = 0
        var notBefore: Duration?
    }

    let width: Int
    let backoff: Backoff
    private(set) var identity: Identity
    /// The states of the lanes that are sending or delayed, by the index of the lane in the ledger.
    private var states: [Int: LaneState] = [:]
    /// The owners whose credentials the server refused, by their index in the ledger.
    private var refused: Set<Int> = []
    /// The lane at which the next search begins.
    private var cursor = 0
    /// The number of calls of ``stop()``.
    private(set) var stopCount: UInt64 = 0
    /// The number of stops that precede the call of the latest drain. These stops don't end this drain.
    private var earlierStops: UInt64 = 0
    /// The number of requests in flight.
    private(set) var busy = 0

    /// Creates a dispatcher without busy lanes.
    /// - Parameters:
    ///   - width: The maximum number of requests in flight.
    ///   - backoff: The delay of a lane after a failure.
    ///   - identity: The server of the client, and the account that is signed in.
    init(width: Int, backoff: Backoff, identity: Identity) {
        (self.width, self.backoff, self.identity) = (width, backoff, identity)
    }

    /// Whether the latest drain gets no further requests, for example because the app is about to be suspended.
    var isStopped: Bool { stopCount > earlierStops }

    /// Ends all drains that were called before.
    mutating func stop() { stopCount += 1 }

    /// Begins a drain. If ``stop()`` was called since the drain was called, ``isStopped`` is `true` from the beginning.
    /// - Parameter stops: The value of ``stopCount`` when the drain was called.
    mutating func beginDrain(after stops: UInt64) { earlierStops = stops }

    /// Returns the reason why the requests of an owner are not sent; `nil` if they are sent.
    func pause(of owner: Int, in ledger: Ledger) -> QueuePause? {
        let owned = ledger.owners[owner].owner
        if owned.server != identity.server { return .otherServer }
        guard let account = owned.account else { return nil }
        guard let present = identity.account else { return .signedOut }
        if account != present { return .otherAccount }
        return refused.contains(owner) ? .unauthorized : nil
    }

    /// Chooses the next request and marks its lane as busy. O(number of lanes).
    /// - Parameters:
    ///   - ledger: The stored requests.
    ///   - now: The time on the client's clock.
    ///   - stops: Gets the name of a lane, and returns whether the lane stops at a dead letter.
    /// - Returns: `idle` if no request can be sent, or if `width` requests are in flight. In the second case, call the method again when a
    ///   call ends.
    mutating func next(in ledger: Ledger, at now: Duration, stops: (String) -> Bool) -> Step {
        guard busy < width, !isStopped else { return .idle }
        var pauses: [Int: Bool] = [:]
        var wait: Duration?
        for offset in ledger.lanes.indices {
            let number = (cursor + offset) % ledger.lanes.count
            // This code reads the lane in place, because a local copy would copy its array of requests.
            guard let id = ledger.lanes[number].line.first else { continue }
            let state = states[number]
            if state?.isBusy == true { continue }
            let owner = ledger.lanes[number].owner
            let isPaused = pauses[owner] ?? (pause(of: owner, in: ledger) != nil)
            pauses[owner] = isPaused
            if isPaused { continue }
            if ledger.lanes[number].buried > 0, stops(ledger.lanes[number].name) { continue }
            if let instant = state?.notBefore, instant > now {
                wait = min(wait ?? instant, instant)
                continue
            }
            states[number, default: LaneState()].isBusy = true
            busy += 1
            cursor = number + 1
            return .send(id, lane: number)
        }
        return wait.map { .wait(until: $0) } ?? .idle
    }

    /// Records the end of a call. The lane is then no longer busy. If the lane was not busy, the method has no effect.
    /// - Parameter chance: A random number from 0 to 1, for the jitter of the backoff.
    mutating func ended(_ lane: Int, with ending: Ending, in ledger: Ledger, at now: Duration, chance: Double) {
        guard var state = states[lane], state.isBusy else { return }
        state.isBusy = false
        busy -= 1
        switch ending {
        case .next: state = LaneState()
        case .hold(let wait): state.notBefore = now + wait
        case .backOff(let named):
            state.notBefore = now + max(backoff.pause(beforeRetry: state.failures, chance: chance), named ?? .zero)
            state.failures += 1
        case .pause: refused.insert(ledger.lanes[lane].owner)
        }
        states[lane] = state.failures == 0 && state.notBefore == nil ? nil : state
    }

    /// Returns whether a pending request can be sent now, or later without an action of the user: a request that is being sent or delayed,
    /// or whose account is unknown because the credentials can't be read now. O(number of lanes).
    /// - Parameters:
    ///   - ledger: The stored requests.
    ///   - stops: Gets the name of a lane, and returns whether the lane stops at a dead letter.
    func hasRequestsToSend(in ledger: Ledger, stops: (String) -> Bool) -> Bool {
        ledger.lanes.indices.contains { number in
            if ledger.lanes[number].line.isEmpty { return false }
            if ledger.lanes[number].buried > 0, stops(ledger.lanes[number].name) { return false }
            return switch pause(of: ledger.lanes[number].owner, in: ledger) {
            case nil: true
            case .signedOut: !identity.isKnown
            case .otherAccount, .otherServer, .unauthorized: false
            }
        }
    }

    /// Returns whether this process is sending a request of a lane.
    func isBusy(_ lane: Int) -> Bool { states[lane]?.isBusy == true }

    /// Returns the first instant after `begin` at which the delay of a lane with pending requests ends; `nil` if no such lane waits.
    func resumption(in ledger: Ledger, after begin: Duration) -> Duration? {
        states.compactMap { lane, state -> Duration? in
            guard let instant = state.notBefore, instant > begin, !ledger.lanes[lane].line.isEmpty,
                pause(of: ledger.lanes[lane].owner, in: ledger) == nil
            else { return nil }
            return instant
        }.min()
    }

    /// Returns the instant before which a lane is not tried again; `nil` if it may be tried now.
    func resumption(of lane: Int, at now: Duration) -> Duration? {
        guard let instant = states[lane]?.notBefore, instant > now else { return nil }
        return instant
    }

    /// Ends the delays of all lanes and the pauses after refused credentials. Busy lanes stay busy.
    mutating func wake() {
        for (lane, state) in states {
            var state = state
            (state.failures, state.notBefore) = (0, nil)
            states[lane] = state.isBusy ? state : nil
        }
        refused = []
    }

    /// Records which account is signed in. A changed session ends the pause of accounts whose credentials were refused.
    mutating func identify(_ new: Identity, isNewSession: Bool) {
        identity = new
        if isNewSession { refused = [] }
    }
}

/// The reason why the requests of an account are not sent now. The requests stay stored, and their lifetime continues.
public enum QueuePause: String, Hashable, Sendable, CaseIterable {
    /// No user is signed in. Sending continues when the account signs in again.
    case signedOut = "signed_out"
    /// Another account is signed in.
    case otherAccount = "other_account"
    /// The client has another base URL than the client for which the request was stored.
    case otherServer = "other_server"
    /// The server refused the credentials, and a refresh was not possible. Sending continues after a sign-in or ``OfflineQueue/wake()``.
    case unauthorized
}
