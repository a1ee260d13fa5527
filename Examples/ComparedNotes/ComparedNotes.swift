import ArgumentParser
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServerMiddleware

/// Serves the notes API for the comparison with other servers: with the error contract, or with Hummingbird's default responses.
@main
struct ComparedNotes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-compared-notes",
        abstract: "Serve the notes API that scripts/compare-errors tests with faults."
    )

    @Option(help: "The port to listen on.")
    var port = 8082

    @Flag(help: "Omit the error contract and send Hummingbird's default responses.")
    var bare = false

    func run() async throws {
        var logger = Logger(label: "notes")
        logger.logLevel = .critical
        let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
        if bare {
            let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
            BareRoutes().add(to: router)
            try await Application(router: router, configuration: configuration, logger: logger).runService()
        } else {
            let deadline = RequestDeadline(.seconds(3))
            let router = ContractRouter(context: BasicContractContext.self, deadline: deadline)
            ContractRoutes().add(to: router)
            try await Application(router: router, server: .contractHTTP1(), configuration: configuration, logger: logger)
                .runService()
        }
    }
}

/// A dependency of the API, a search index, that is not running.
enum Dependency {
    /// Connects to the index.
    /// - Throws: The system's error for a port without a listener.
    static func reach() async throws {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(.seconds(1))
            .connect(host: "127.0.0.1", port: 1)
            .get()
        try await channel.close()
    }
}

/// An error that a handler with a bug throws. Its text must not reach the client.
struct Bug: Error, CustomStringConvertible {
    var description: String { "SELECT hunter2 FROM secrets failed in /srv/notes/store.swift" }
}
