import ArgumentParser
import Hummingbird
import Logging
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
