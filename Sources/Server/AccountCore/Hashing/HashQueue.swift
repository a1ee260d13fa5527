import Scheduling

/// The reason for hashing a password. It decides the order of the callers.
public enum HashingPurpose: Hashable, Sendable {
    /// The client has not proven any right yet, as in a sign-in or a registration. The networks of these clients take turns in the queue.
    case attempt
    /// The client has proven a right with a reset token or the correct password. These callers are served before all attempts.
    case entitled
}

/// Decides for each password hash whether it is computed now, waits or is refused. The type has no side effects: the caller passes the time
/// and random numbers.
///
/// The queue serves the networks of the clients in turn, one attempt of each network. So if one network sends 60 attempts, they delay the
/// first attempt of another network by one hash. The attempts of one network can use at most half of the queue. If the queue is full, it
/// still accepts an attempt of a network with few pending attempts. This attempt displaces the last attempt of the network with the most
/// pending attempts. The queue holds as many attempts as can be computed within ``longestWait``, because clients don't wait longer.
///
/// A refused caller receives a delay, which a ``VirtualLine`` computes. Up to half of the queue is reserved for callers that return after
/// their delay.
struct HashQueue<Job> {
    /// A refused job, and the delay after which its caller can try again.
    struct Refusal {
        var job: Job
        var delay: Duration
    }

    /// The decision about a job.
    enum Admission {
        /// The caller computes the job now, and then calls ``finish(at:)``.
        case start(Job)
        /// The job waits. `displaced` is a waiting job that loses its place to this job; `nil` if there is none.
        case waiting(displaced: Refusal?)
        /// The queue has no place for the job, and returns the delay for its caller.
        case refused(Refusal)
        /// The caller canceled the job before ``HashQueue/enter(_:_:as:from:at:chance:)`` was called.
        case cancelled(Job)
    }

    /// The number of jobs that are computed at the same time.
    let width: Int
    /// The longest time that an attempt waits, if the rate of hashes stays as it was measured.
    let longestWait: Duration
    private let limit: Int

    private(set) var running = 0
    private var entitled = FairQueue<Int, Job>()
    private var attempts = FairQueue<String?, Job>()
    private var line = VirtualLine<String?>()
    private var rate: ServiceRate
    private var lastTicket: UInt64 = 0
    /// The tickets from ``nextTicket()`` whose jobs have not been passed to `enter` yet.
    private var pending: Set<UInt64> = []
    /// The tickets that were canceled before their jobs were passed to `enter`.
    private var cancelledEarly: Set<UInt64> = []

    /// Creates an idle queue.
    /// - Parameter limit: The largest number of waiting attempts. The same limit applies separately to the waiting jobs of entitled
    ///   callers.
    init(width: Int, limit: Int, longestWait: Duration) {
        precondition(width > 0, "width must be positive (is \(width))")
        precondition(limit >= 0, "queueLimit must not be negative (is \(limit))")
        (self.width, self.limit, self.longestWait) = (width, limit, longestWait)
        // The estimate is 20 ms per job until the rate has been measured.
        rate = ServiceRate(estimate: Double(width) * 50)
    }

    /// The number of waiting jobs.
    var count: Int { entitled.count + attempts.count }

    /// Returns the number of jobs that are computed per second while ``width`` jobs run at the same time.
    func rate(at now: Duration) -> Double { rate.perSecond(at: now) }

    /// Returns a ticket: a number that identifies a job. With the ticket, the caller can cancel the job even before the job is passed to
    /// `enter`.
    mutating func nextTicket() -> UInt64 {
        lastTicket += 1
        pending.insert(lastTicket)
        return lastTicket
    }

    /// Decides whether the queue would refuse an attempt now. Call this method before you do other work for the attempt.
    /// - Returns: The delay after which the caller should return; `nil` if the queue would not refuse the attempt.
    mutating func refuseEarly(from network: String?, at now: Duration, chance: Double) -> Duration? {
        let isExpected = line.isDue(for: network, at: now)
        guard running == width, place(for: network, isExpected: isExpected, at: now) == .nowhere else { return nil }
        return delay(for: network, at: now, chance: chance)
    }

    /// Starts a job if fewer than ``width`` jobs are being computed. Otherwise, enqueues or refuses the job.
    /// - Parameter network: The network of the client; `nil` if it is unknown.
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

    /// Records that a job was computed, and takes the next job from the queue.
    /// - Returns: The job to compute next; `nil` if no job waits.
    mutating func finish(at now: Duration) -> Job? {
        let next = entitled.popFirst() ?? attempts.popFirst()
        if next == nil { running -= 1 }
        rate.note(served: 1, isBusy: running == width, at: now)
        return next
    }

    /// Cancels a job that waits or has not been passed to `enter` yet.
    /// - Returns: The job, if it was waiting.
    mutating func cancel(_ ticket: UInt64) -> Job? {
        if pending.contains(ticket) {
            cancelledEarly.insert(ticket)
            return nil
        }
        return attempts.remove(ticket) ?? entitled.remove(ticket)
    }

    /// Enqueues an attempt, or refuses it if there is no place.
    /// - Parameter isExpected: Whether the caller was refused before and returns after its delay.
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

    /// A place in the queue for an attempt.
    private enum Place: Equatable {
        case nowhere, free
        /// The place of another network's last attempt.
        case of(String?)
    }

    /// Returns the place that an attempt of a network would get now: a free place, the place of another attempt, or none.
    private mutating func place(for network: String?, isExpected: Bool, at now: Duration) -> Place {
        let limit = limit(at: now)
        let room = isExpected ? limit : limit - min(limit / 2, line.due(at: now))
        // The bound for one network doesn't apply to callers without a network, which are commands of the operator. It also doesn't apply
        // to callers that return after their delay, because the virtual queue already limits their number.
        guard network == nil || isExpected || attempts.count(of: network) < max(min(limit, width), limit / 2) else {
            return .nowhere
        }
        guard attempts.count >= room else { return .free }
        return attempts.longest(beside: network).map(Place.of) ?? .nowhere
    }

    /// Returns the number of attempts that may wait: the number that can be computed within ``longestWait``, up to the configured limit.
    private func limit(at now: Duration) -> Int {
        let count = (rate.perSecond(at: now) * (longestWait / .seconds(1))).rounded(.up)
        return min(limit, max(width, Int(exactly: count) ?? limit))
    }

    /// Returns the refusal of a job, with the delay for its caller.
    private mutating func refuse(_ job: Job, from network: String?, at now: Duration, chance: Double) -> Refusal {
        Refusal(job: job, delay: delay(for: network, at: now, chance: chance))
    }

    /// Returns the delay after which there will be capacity for a refused caller.
    private mutating func delay(for network: String?, at now: Duration, chance: Double) -> Duration {
        line.place(for: network, rate: rate.perSecond(at: now), at: now, chance: chance)
    }
}
