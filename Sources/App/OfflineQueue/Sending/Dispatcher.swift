import ResilientHTTP

/// Chooses which request is sent next, and when. A value: it knows neither the network nor a clock.
struct Dispatcher: Sendable {
    /// The account that this process can send requests of.
    struct Identity: Hashable, Sendable {
        var server: String
        /// `nil` if no user is signed in.
        var account: String?
    }

    /// The next step.
    enum Step: Equatable {
        /// Send a request; its lane is busy until ``ended(_:with:at:chance:)``.
        case send(QueuedRequestID, lane: Int)
        /// Nothing can be sent before an instant.
        case wait(until: Duration)
        /// Nothing can be sent until something changes.
        case idle
    }

    /// How a call ended, as far as its lane is concerned.
    enum Ending: Equatable {
        /// The next request of the lane may be sent.
        case next
        /// The lane waits, without a failure.
        case hold(Duration)
        /// The lane waits after a failure, at least as long as the server named.
        case backOff(Duration?)
        /// All lanes of the account wait until a user signs in.
        case pause(QueuePause)
    }

    private struct LaneState {
        var isBusy = false
        var failures = 0
        var notBefore: Duration?
    }

    let width: Int
    let backoff: Backoff
    private(set) var identity: Identity
    /// The lanes that are busy or wait.
    private var states: [Int: LaneState] = [:]
    /// The owners whose credentials the server refused.
    private var refused: Set<Int> = []
    private var cursor = 0
    /// Whether no request is to be sent, because the app is about to be suspended.
    var isStopped = false
    private(set) var busy = 0

    init(width: Int, backoff: Backoff, identity: Identity) {
        (self.width, self.backoff, self.identity) = (width, backoff, identity)
    }

    /// Why requests of an owner are not sent; `nil` if they are.
    func pause(of owner: Int, in ledger: Ledger) -> QueuePause? {
        let owned = ledger.owners[owner].owner
        if owned.server != identity.server { return .otherServer }
        guard let account = owned.account else { return nil }
        guard let present = identity.account else { return .signedOut }
        if account != present { return .otherAccount }
        return refused.contains(owner) ? .unauthorized : nil
    }

    /// Chooses the next request: lanes take turns.
    /// - Parameter stops: Whether a lane stops at a dead letter.
    mutating func next(in ledger: Ledger, at now: Duration, stops: (String) -> Bool) -> Step {
        guard busy < width, !isStopped else { return .idle }
        var pauses: [Int: Bool] = [:]
        var wait: Duration?
        for offset in ledger.lanes.indices {
            let number = (cursor + offset) % ledger.lanes.count
            // Not copied: a copy of the line would be made for each.
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

    /// Notes the end of a call.
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

    func isBusy(_ lane: Int) -> Bool { states[lane]?.isBusy == true }

    /// The next instant at which a lane that waits can be tried again.
    func resumption(in ledger: Ledger, at now: Duration) -> Duration? {
        states.compactMap { lane, state in
            ledger.lanes[lane].line.isEmpty || pause(of: ledger.lanes[lane].owner, in: ledger) != nil ? nil : state.notBefore
        }.min()
    }

    /// The instant before which a lane is not tried again; `nil` if it may be tried now.
    func resumption(of lane: Int, at now: Duration) -> Duration? {
        guard let instant = states[lane]?.notBefore, instant > now else { return nil }
        return instant
    }

    /// Tries all lanes again at once: the network changed, or the app was activated.
    mutating func wake() {
        for (lane, state) in states {
            var state = state
            (state.failures, state.notBefore) = (0, nil)
            states[lane] = state.isBusy ? state : nil
        }
        refused = []
    }

    /// Notes which account is signed in. A new sign-in ends the pause of an account whose credentials were refused.
    mutating func identify(_ new: Identity, isNewSession: Bool) {
        identity = new
        if isNewSession { refused = [] }
    }
}

/// Why requests of an account are not sent.
public enum QueuePause: String, Hashable, Sendable, CaseIterable {
    /// No user is signed in.
    case signedOut = "signed_out"
    /// Another account is signed in.
    case otherAccount = "other_account"
    /// The client has another base URL.
    case otherServer = "other_server"
    /// The server refused the credentials, and they could not be renewed.
    case unauthorized
}
