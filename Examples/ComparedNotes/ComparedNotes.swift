import ArgumentParser
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ServerMiddleware

/// The notes API of the comparison with other servers: in the contract, or as Hummingbird answers by itself.
@main
struct ComparedNotes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-compared-notes",
        abstract: "Serve the notes API that scripts/compare-errors puts faults to."
    )

    @Option(help: "The port to listen on.")
    var port = 8082

    @Flag(help: "Leave the contract out: what Hummingbird answers by itself.")
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

/// A search index that nobody runs.
enum Dependency {
    /// Connects to it.
    /// - Throws: What the system says about a port where nobody listens.
    static func reach() async throws {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(.seconds(1))
            .connect(host: "127.0.0.1", port: 1)
            .get()
        try await channel.close()
    }
}

/// What a handler throws that met a bug: its text is nobody's business.
struct Bug: Error, CustomStringConvertible {
    var description: String { "SELECT hunter2 FROM secrets failed in /srv/notes/store.swift" }
}
