public import Logging
import Observability
import Scheduling
public import ServiceLifecycle

/// Periodically adapts the decoys of a ``HashingGate`` to the hashes that accounts have. A decoy is a hash that the gate verifies for an
/// address without an account; see ``DecoyMix``.
public struct DecoyMaintenance<C: Clock>: Service where C.Duration == Duration {
    private let accounts: any AccountRepository
    private let decoys: any DecoyStore
    private let gate: HashingGate
    private let interval: Duration
    private let clock: C
    private let logger: Logger

    /// Creates the service.
    /// - Parameters:
    ///   - accounts: The store of accounts. The service counts their hashes by cost.
    ///   - decoys: The store of the spans of ``DecoyMix``. A span decides which addresses have a certain decoy.
    ///   - gate: The gate whose decoys are replaced.
    ///   - interval: The time between two adaptations.
    ///   - clock: The clock of the interval.
    ///   - logger: Reports failures.
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

    /// Adapts the decoys at each interval until the service group shuts down.
    public func run() async throws {
        await PeriodicService(every: interval, clock: clock) {
            try await renew()
        } failure: { error in
            logger.error("Decoy renewal failed", metadata: .failure(error))
        }.run()
    }

    /// Adapts the decoys once: counts the hashes, changes the stored spans, and passes them to the gate.
    /// - Throws: `StoreFailure`. The decoys then stay as they were.
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
