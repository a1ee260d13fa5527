import Scheduling

/// Why a password is hashed, which decides who waits behind whom.
public enum HashingPurpose: Hashable, Sendable {
    /// For a client that has proven nothing yet: a sign-in or a registration. Such clients wait in turns by network.
    case attempt
    /// For a client that has proven a right to it, by a reset token or by the right password. Served before all attempts.
    case entitled
}

/// Decides which hash is computed next, which waits and which is refused. A value: time and randomness are arguments.
///
/// Networks take turns: 60 attempts from one network delay another network's first attempt by one hash. A network has half of the queue at most;
/// if the queue is full, a network with few waiting attempts takes the place of the last one of the network with the most. The queue holds as many
/// attempts as can be hashed within ``longestWait``, because callers give up on later ones.
///
/// A refused caller gets its place in a ``VirtualLine``. Half of the queue is reserved for callers that return when told.
struct HashQueue<Job> {
    /// A job that is not computed, and when its caller is to return.
    struct Refusal {
        var job: Job
        var delay: Duration
    }

    enum Admission {
        /// The caller computes the job now, and calls ``finish(at:)`` afterwards.
        case start(Job)
        /// The job waits. Another one may have lost its place to it.
        case waiting(displaced: Refusal?)
        case refused(Refusal)
        /// The job's ticket was canceled before.
        case cancelled(Job)
    }

    /// How many jobs are computed at once.
    let width: Int
    /// The longest time that an attempt waits, if the measured rate continues.
    let longestWait: Duration
    private let limit: Int

    private(set) var running = 0
    private var entitled = FairQueue<Int, Job>()
    private var attempts = FairQueue<String?, Job>()
    private var line = VirtualLine<String?>()
    private var rate: ServiceRate
    private var lastTicket: UInt64 = 0
    /// Tickets of jobs that have not come yet, and those of them that were canceled.
    private var pending: Set<UInt64> = []
    private var cancelledEarly: Set<UInt64> = []

    /// Creates an idle queue.
    /// - Parameter limit: The largest number of waiting attempts, and of waiting jobs of entitled callers.
    init(width: Int, limit: Int, longestWait: Duration) {
        precondition(width > 0, "width must be positive (is \(width))")
        precondition(limit >= 0, "queueLimit must not be negative (is \(limit))")
        (self.width, self.limit, self.longestWait) = (width, limit, longestWait)
        // 20 ms each, until they are measured.
        rate = ServiceRate(estimate: Double(width) * 50)
    }

    /// How many jobs wait.
    var count: Int { entitled.count + attempts.count }

    /// The number of jobs per second that are computed while all of ``width`` are busy.
    func rate(at now: Duration) -> Double { rate.perSecond(at: now) }

    /// Returns a number by which a job can be canceled, also before it comes.
    mutating func nextTicket() -> UInt64 {
        lastTicket += 1
        pending.insert(lastTicket)
        return lastTicket
    }

    /// Refuses an attempt that would be refused if it came now, before anything else is done for it.
    /// - Returns: The delay after which the caller is to return; `nil` if the attempt may come.
    mutating func refuseEarly(from network: String?, at now: Duration, chance: Double) -> Duration? {
        let isExpected = line.isDue(for: network, at: now)
        guard running == width, place(for: network, isExpected: isExpected, at: now) == .nowhere else { return nil }
        return delay(for: network, at: now, chance: chance)
    }

    /// Decides about a job.
    /// - Parameter network: The network of the client; `nil` if it is not known.
    mutating func enter(
        _ job: Job,
        _ ticket: UInt64,
        as purpose: HashingPurpose,
        from network: String?,
        at now: Duration,
        chance: Double
    ) -> Admission {
        pending.remove(ticket)
        if cancelledEarly.remove(ticket) != nil { return .cancelled(job) }
        let isExpected = line.claim(by: network, at: now)
        if running < width {
            running += 1
            rate.note(served: 0, isBusy: running == width, at: now)
            return .start(job)
        }
        switch purpose {
        case .entitled:
            guard entitled.count < limit else { return .refused(refuse(job, from: network, at: now, chance: chance)) }
            entitled.append(job, id: ticket, of: 0)
            return .waiting(displaced: nil)
        case .attempt:
            return wait(job, ticket, from: network, isExpected: isExpected, at: now, chance: chance)
        }
    }

    /// Notes that a job was computed.
    /// - Returns: The job to compute next in its place.
    mutating func finish(at now: Duration) -> Job? {
        let next = entitled.popFirst() ?? attempts.popFirst()
        if next == nil { running -= 1 }
        rate.note(served: 1, isBusy: running == width, at: now)
        return next
    }

    /// Cancels a job that waits or has not come yet.
    /// - Returns: The job, if it waited.
    mutating func cancel(_ ticket: UInt64) -> Job? {
        if pending.contains(ticket) {
            cancelledEarly.insert(ticket)
            return nil
        }
        return attempts.remove(ticket) ?? entitled.remove(ticket)
    }

    private mutating func wait(
        _ job: Job,
        _ ticket: UInt64,
        from network: String?,
        isExpected: Bool,
        at now: Duration,
        chance: Double
    ) -> Admission {
        switch place(for: network, isExpected: isExpected, at: now) {
        case .nowhere: return .refused(refuse(job, from: network, at: now, chance: chance))
        case .free:
            attempts.append(job, id: ticket, of: network)
            return .waiting(displaced: nil)
        case .of(let other):
            let last = attempts.popLast(of: other)
            attempts.append(job, id: ticket, of: network)
            return .waiting(displaced: last.map { refuse($0, from: other, at: now, chance: chance) })
        }
    }

    /// Where an attempt may wait.
    private enum Place: Equatable {
        case nowhere, free
        /// In the place of another network's last attempt.
        case of(String?)
    }

    private mutating func place(for network: String?, isExpected: Bool, at now: Duration) -> Place {
        let limit = limit(at: now)
        let room = isExpected ? limit : limit - min(limit / 2, line.due(at: now))
        // Callers without a network are commands of the operator, and those who return when told are as many as can be served.
        guard network == nil || isExpected || attempts.count(of: network) < max(min(limit, width), limit / 2) else {
            return .nowhere
        }
        guard attempts.count >= room else { return .free }
        return attempts.longest(beside: network).map(Place.of) ?? .nowhere
    }

    private func limit(at now: Duration) -> Int {
        min(limit, max(width, Int((rate.perSecond(at: now) * (longestWait / .seconds(1))).rounded(.up))))
    }

    private mutating func refuse(_ job: Job, from network: String?, at now: Duration, chance: Double) -> Refusal {
        Refusal(job: job, delay: delay(for: network, at: now, chance: chance))
    }

    private mutating func delay(for network: String?, at now: Duration, chance: Double) -> Duration {
        line.place(for: network, rate: rate.perSecond(at: now), at: now, chance: chance)
    }
}
