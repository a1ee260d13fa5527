public import Logging
import Observability
import Scheduling
public import ServiceLifecycle

/// Keeps the decoys of a gate like the hashes that accounts have.
public struct DecoyMaintenance<C: Clock>: Service where C.Duration == Duration {
    private let accounts: any AccountRepository
    private let decoys: any DecoyStore
    private let gate: HashingGate
    private let interval: Duration
    private let clock: C
    private let logger: Logger

    /// Creates the service.
    public init(
        accounts: any AccountRepository,
        decoys: any DecoyStore,
        gate: HashingGate,
        interval: Duration = .seconds(60),
        clock: C,
        logger: Logger
    ) {
        self.accounts = accounts
        self.decoys = decoys
        self.gate = gate
        self.interval = interval
        self.clock = clock
        self.logger = logger
    }

    /// Looks at the accounts now and then until the group shuts down.
    public func run() async throws {
        await PeriodicService(every: interval, clock: clock) {
            try await renew()
        } failure: { error in
            logger.error("Decoys could not be renewed", metadata: .failure(error))
        }.run()
    }

    /// Looks at the accounts once.
    public func renew() async throws {
        let (counts, total) = try await accounts.countForeignHashes(by: gate.decoy(like:))
        let spans = try await decoys.renewDecoys { spans in
            var mix = DecoyMix(spans: spans)
            mix.follow(counts, of: total)
            return mix.spans
        }
        gate.setDecoys(DecoyMix(spans: spans))
    }
}
