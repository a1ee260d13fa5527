package import AccountCore
import Email
package import Foundation
package import Logging
public import NIOCore
import Pages
import RateLimiting
import ServerMiddleware
public import ServiceLifecycle
import Synchronization

extension AccountServer {
    /// The background services, in the order in which they start. They end in the reverse order. The rate limits are among the first
    /// services, so they end late and can save the usage by the last requests.
    ///
    /// Pass the services to the application or to a service group, whose graceful shutdown ends them. If the services don't run, the server
    /// sends no emails, doesn't remove expired data, and saves the usage of limits only to the journal.
    ///
    /// The first service ends last and then releases the lock of the data folder, so that another server can use the folder. If the
    /// services don't run, the server holds the lock until all copies of this value are deallocated.
    public var services: [any Service] {
        let lock: [any Service] = [folderLock]
        return lock + stores.services(logger: logger) + [
            limitStore,
            idempotency,
            audit,
            DecoyMaintenance(accounts: stores.accounts, decoys: stores.decoys, gate: gate, clock: time, logger: logger),
            MailService(server: self),
            Sweeper(
                stores: stores,
                rules: authentication.rules,
                clock: time,
                now: time.wall,
                steady: steady.now,
                storeTime: { [steady] in try await steady.keep() },
                logger: logger
            ),
            purge,
        ]
    }

    /// The service that removes deleted accounts, and unverified accounts that have not been used for ``AccountRules/unverifiedDays``.
    package var purge: AccountPurge<ServerTime> {
        AccountPurge(stores, configuration.accountRules, mailbox: mailbox, clock: time, now: time.wall, logger: logger)
    }

    /// Returns the worker that sends emails, with the settings of the configuration.
    /// - Parameter bound: The address on which the server listens. Links in emails begin with it if the configuration has no address.
    /// - Throws: Mustache's error if a template can't be read, or an error if the address of links is invalid.
    package func mailWorker(bound: URL) throws -> MailWorker<ServerTime> {
        let templates = try MailTemplates(
            settings: .init(
                appName: configuration.appName,
                sender: configuration.emailFrom,
                linkBase: configuration.resetBaseURL ?? bound,
                linkStyle: configuration.resetLinkStyle,
                linkLifetime: configuration.recoveryRules.linkLifetime,
                resetSubject: configuration.resetSubject,
                resetPreview: configuration.resetPreview
            ),
            folder: configuration.mailTemplates
        )
        return MailWorker(
            stores: stores,
            rendering: templates,
            delivery: mailDelivery,
            rules: configuration.recoveryRules,
            schedule: mailSchedule,
            clock: time,
            now: time.wall,
            steady: steady.now,
            quota: ResetMailQuota(stores.sentResets) { [mailBounds] in mailBounds.now },
            audit: audit,
            metrics: accountMetrics,
            isServerBusy: { [shedding] in shedding.load.running > 4 * ProcessorCount.available },
            logger: logger
        )
    }

    /// A new object that delivers emails to the folder of the local mailbox or to the SMTP server. Each mail worker gets its own object.
    private var mailDelivery: any MailDelivery {
        switch configuration.mail {
        case .mailbox: mailbox
        case .smtp(let settings): SMTPDelivery(settings: settings, now: time.wall)
        }
    }

    /// The schedule of the worker that sends emails. The worker leases each email from the queue, and a lease is 15 seconds longer than the
    /// longest delivery. The number of concurrent deliveries is the largest number of SMTP connections.
    private var mailSchedule: MailWorker<ServerTime>.Schedule {
        var schedule = MailWorker<ServerTime>.Schedule(pause: configuration.mailPause)
        if case .smtp(let settings) = configuration.mail {
            // A delivery times out 15 seconds before its lease ends. In the remaining time, the worker writes the result to the database.
            schedule.lease = settings.timeout + .seconds(15)
            schedule.width = settings.connectionLimit
        }
        return schedule
    }

    /// Receives the address on which the server listens. If ``AccountServerConfiguration/resetBaseURL`` is not set, links in emails begin
    /// with this address.
    ///
    /// ```swift
    /// Application(router: router, onServerRunning: accounts.serverRuns(on:))
    /// ```
    /// - Parameter channel: The listening channel. The worker that sends emails waits for this call, so call the method even if an address
    ///   is configured.
    @Sendable public func serverRuns(on channel: any Channel) {
        address.set(
            to: channel,
            scheme: configuration.tls == nil ? "http" : "https",
            host: configuration.host,
            port: configuration.port
        )
    }

    /// Changes the rate limits without a restart. The recorded usage stays, so clients don't get a new burst. The change applies only to
    /// this server. The memory limit doesn't change, because the server reads it only at the start.
    /// - Parameter settings: The policies, the mode and the network factors. A limit without a policy is turned off.
    /// - Throws: The error of the store.
    public func change(to settings: LimitSettings) async throws {
        for rule in settings.rules { try await limits.change(to: rule) }
        mailBounds.now = settings.resetMails
    }
}

extension AccountPurge {
    /// Creates the service of a server.
    fileprivate init(
        _ stores: Stores,
        _ rules: AccountRules,
        mailbox: MailboxFolder,
        clock: C,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.init(
            records: stores.records,
            list: stores.folder.purgeList,
            // Even if the server now sends emails by SMTP, the folder of the mailbox can still contain earlier emails.
            emails: mailbox,
            unverifiedDays: rules.unverifiedDays,
            interval: rules.purgeInterval,
            clock: clock,
            now: now,
            logger: logger
        )
    }
}

extension AccountPurge<ContinuousClock> {
    /// Creates the object for a command, which doesn't run it as a service but only calls its methods.
    /// - Throws: An error of the file system.
    package init(_ stores: Stores, _ configuration: AccountServerConfiguration, logger: Logger) throws {
        self.init(
            stores,
            configuration.accountRules,
            mailbox: try MailboxFolder(directory: stores.folder.mailbox, now: stores.wallTime),
            clock: ContinuousClock(),
            now: stores.wallTime,
            logger: logger
        )
    }
}

/// Records whether the server is shutting down. Between the signal to shut down and the end of the listeners, the server reports that it is
/// not ready, so that a load balancer sends requests to other servers.
///
/// The class is thread-safe. A shutdown can't be reverted.
package final class Drain: Sendable {
    /// Whether the shutdown has begun.
    private let state = Mutex(false)

    /// Whether the shutdown has begun.
    package var hasBegun: Bool { state.withLock(\.self) }

    /// Begins the shutdown: the server is no longer ready.
    package func begin() { state.withLock { $0 = true } }
}

/// The current limits of reset emails.
///
/// ``AccountServer/change(to:)`` sets them, and the mail worker reads them for each email.
final class MailBounds: Sendable {
    private let bounds: Mutex<ResetMailBounds>

    /// Creates the limits.
    init(_ bounds: ResetMailBounds) {
        self.bounds = Mutex(bounds)
    }

    /// The limits for the next email.
    var now: ResetMailBounds {
        get { bounds.withLock { $0 } }
        set { bounds.withLock { $0 = newValue } }
    }
}

/// Runs the mail worker when the address of the server is known.
private struct MailService: Service, CustomStringConvertible {
    let server: AccountServer
    /// The service group logs its services by their descriptions.
    var description: String { "MailService" }

    /// Waits for the address, then runs the worker until the shutdown.
    func run() async throws {
        let bound = try? await cancelWhenGracefulShutdown { try await server.address.get() }
        guard let bound else { return }
        try await server.mailWorker(bound: bound).run()
    }
}
