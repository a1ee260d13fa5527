import AccountServer
import Foundation
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// Runs a server, and calls a closure with the address of the server. When the closure ends, shuts the server down gracefully.
/// - Throws: The error of the closure, or the reason why the server could not start.
func withRunningServer<Result: Sendable>(
    _ server: HoldfastServer,
    logger: Logger,
    _ body: @escaping @Sendable (URL) async throws -> Result
) async throws -> Result {
    let group = ServiceGroup(services: [try server.application()], logger: logger)
    return try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        tasks.addTask {
            // If there is no address, the server could not start, and the server's task throws the reason.
            guard let bound = try? await server.accounts.address.get() else { return nil }
            do {
                let result = try await body(bound)
                await group.triggerGracefulShutdown()
                return result
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
        }
        var result: Result?
        do {
            while let next = try await tasks.next() { result = next ?? result }
        } catch {
            server.accounts.address.abandon()
            tasks.cancelAll()
            throw error
        }
        guard let result else { throw CancellationError() }
        return result
    }
}

extension HoldfastServer {
    /// Serves until SIGTERM or SIGINT, and then finishes the requests and emails in flight. SIGHUP reloads the rate limits from the
    /// settings.
    /// - Parameter announce: A closure that is called once with the address, when the server listens.
    /// - Throws: The reason why the server could not start.
    func runUntilSignaled(logger: Logger, announce: @escaping @Sendable (URL) -> Void) async throws {
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: try application()), .init(service: Announcement(address: accounts.address, announce: announce)),
                .init(service: LimitReload(accounts: accounts)),
                // The services end in reverse order: the last service ends first, and the others wait for it.
                .init(service: DrainService(drain: accounts.drain, delay: accounts.configuration.shutdownDelay)),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // The shutdown has a time limit, so that a client that never ends its request can't keep the process alive. If the limit interrupts
        // the sending of an email, the email can be sent twice.
        let limit = max(.seconds(20), accounts.configuration.mail.timeout + .seconds(5))
        group.maximumGracefulShutdownDuration = limit + accounts.configuration.shutdownDelay
        try await ServiceGroup(configuration: group).run()
    }
}

/// The error of a command that a signal ended.
struct EndedBySignal: Error {
    /// The number of the signal.
    let signal: Int32
}

/// Runs a closure. If the process receives SIGINT, SIGTERM or SIGHUP, cancels the closure.
/// - Throws: ``EndedBySignal``, or the error of the closure.
func untilSignaled(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        tasks.addTask { try await body() }
        tasks.addTask {
            for await signal in signals { throw EndedBySignal(signal: signal.rawValue) }
        }
        defer { tasks.cancelAll() }
        try await tasks.next()
    }
}

/// Reports the address of the server, then waits for the shutdown.
private struct Announcement: Service {
    let address: BoundAddress
    /// The closure that receives the address.
    let announce: @Sendable (URL) -> Void

    /// Calls the closure when the server listens.
    func run() async throws {
        if let url = try? await cancelWhenGracefulShutdown({ try await address.get() }) { announce(url) }
        try? await gracefulShutdown()
    }
}

/// Delays the shutdown. During the delay, the server reports that it is not ready, so that a load balancer sends no further requests.
private struct DrainService: Service, CustomStringConvertible {
    /// The switch that makes the readiness check fail.
    let drain: Drain
    let delay: Duration
    /// The service group logs its services by their descriptions.
    var description: String { "DrainService" }

    /// Waits for the shutdown, reports that the server is not ready, and delays the end of the other services.
    func run() async throws {
        try? await gracefulShutdown()
        drain.begin()
        try? await Task.sleep(for: delay)
    }
}

/// Reads the rate limits from the settings again at each SIGHUP, so that an operator can change limits without a restart. The server keeps
/// the quota that clients have already consumed, so a reload gives no client a new burst.
///
/// If the settings are invalid, the limits stay as they were, and the server logs the problems.
private struct LimitReload: Service, CustomStringConvertible {
    /// The server whose limits change.
    let accounts: AccountServer
    /// The service group logs its services by their descriptions.
    var description: String { "LimitReload" }

    /// Reloads the limits at each signal, until the shutdown.
    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() { await reload() }
    }

    /// Reads the settings and applies the limits to the running server.
    private func reload() async {
        do {
            try await accounts.change(
                to: AccountServerConfiguration.environment(dataFolder: accounts.configuration.dataFolder).limits
            )
            accounts.logger.notice("Rate limits reloaded")
        } catch {
            accounts.logger.error("Rate limits not reloaded", metadata: ["error": "\(error)"])
        }
    }
}

/// The reason why a server could not start, with its fix.
struct StartFailure: CustomStringConvertible {
    /// The reason in words, without a period.
    let description: String

    /// - Parameters:
    ///   - host: The address on which the server should listen, if it is known.
    init(_ error: any Error, host: String = "", port: Int = 0) {
        switch error {
        case let failure as OpsListenFailure:
            let reason =
                (failure.error as? IOError).map { String(cString: strerror($0.errnoCode)) }
                ?? (failure.error as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(failure.error)"
            description = "OPS_LISTEN \(failure.address) can't be listened on: \(reason); set another address or port"
        case let error as IOError where error.errnoCode == EADDRINUSE:
            description = "port \(port) of \(host) is in use by another program; choose another with --port"
        case let error as IOError where error.errnoCode == EACCES:
            description = "port \(port) is reserved for privileged processes; choose one above 1023 with --port"
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            description = "\(host) is not an address of this machine; choose another with --host"
        case let error as SocketAddressError.UnknownHost:
            let reason = error.errorDescription
            description = "\(error.host) can't be resolved (\(reason)); choose an address, without brackets, with --host"
        case let error as CocoaError:
            let underlying = error.underlying as? POSIXError
            let path = error.filePath ?? (error.userInfo[NSURLErrorKey] as? URL)?.path
            let reason = underlying.map { String(cString: strerror($0.code.rawValue)) } ?? "it is not usable"
            description = path.map { "\($0): \(reason)" } ?? error.localizedDescription
        default: description = "\(error)"
        }
    }
}
