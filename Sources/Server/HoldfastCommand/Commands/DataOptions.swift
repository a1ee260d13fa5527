import AccountServer
import ArgumentParser
import Foundation
import Logging

/// The location of the data.
struct DataOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder with the database, the local mailbox and the secret.", valueName: "folder"))
    var data = "./data"

    /// The absolute address of the folder.
    var folder: URL { URL(fileURLWithPath: data, isDirectory: true).standardizedFileURL }

    /// Whether there is a database in the folder.
    var exists: Bool { DataFolder.hasDatabase(in: folder) }

    /// Opens the stores of an installation, in the folder or at `DATABASE_URL`.
    /// - Throws: `ExitCode` 1 if there is no installation. The method then creates nothing.
    func existingStores() async throws -> Stores {
        let configuration = try AccountServerConfiguration.load(data: folder, isServing: false)
        guard try await !isMissing(configuration) else {
            throw Terminal.failure(
                configuration.database.isRemote
                    ? "The database has no tables of Holdfast; check DATABASE_URL."
                    : "There is no data in \(folder.path); specify the folder with --data."
            )
        }
        return try await open(configuration)
    }

    /// Opens the stores of a configuration. If there is no installation, creates one and reports this on standard error, because the folder
    /// or the database may be the wrong one.
    /// - Throws: `ExitCode` 1 if a server has used the folder, and the database is missing. A new database would have another installation
    ///   id, and the data may be in PostgreSQL.
    func stores(_ configuration: AccountServerConfiguration) async throws -> Stores {
        let isNew = try await isMissing(configuration)
        let stores = try await open(configuration)
        if isNew {
            let isRemote = configuration.database.isRemote
            let place = isRemote ? "The database had no tables of Holdfast" : "There was no data in \(folder.path)"
            Terminal.complain("\(place); a new installation was created there.")
        }
        return stores
    }

    /// Returns whether there is no installation, in the folder or at `DATABASE_URL`. Creates nothing.
    /// - Throws: `ExitCode` 1 if a server has used the folder, and the database is missing. The error message names `DATABASE_URL`.
    func isMissing(_ configuration: AccountServerConfiguration) async throws -> Bool {
        try await reporting { () async throws -> Bool in
            if case .postgres(let settings) = configuration.database { return try await PostgresDeployment.isNew(settings) }
            try DataFolder.requireNoLoss(in: folder)
            return !exists
        }
    }

    /// Opens the stores of a configuration, and creates what is missing.
    private func open(_ configuration: AccountServerConfiguration) async throws -> Stores {
        let logger = Logger.standard(level: .critical)
        guard configuration.database.isRemote else { return try await Stores.open(configuration, logger: logger) }
        return try await reporting { try await Stores.open(configuration, logger: logger) }
    }

    /// Runs a closure that uses a database server.
    /// - Throws: `ExitCode` 1 after an error of the closure, which the method prints.
    private func reporting<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            throw Terminal.failure("The database can't be opened: \(StartFailure(error)).")
        }
    }
}

extension AccountDatabase {
    /// Whether the data is on a database server.
    var isRemote: Bool { if case .sqlite = self { false } else { true } }
}

extension AccountServerConfiguration {
    /// Reads the configuration of a command from the environment and `.env`, and prints all problems.
    /// - Throws: `ExitCode` 78 if a setting is invalid.
    static func load(
        host: String = "127.0.0.1",
        port: Int = 8080,
        data: URL,
        isServing: Bool = true
    ) throws -> AccountServerConfiguration {
        var configuration = AccountServerConfiguration(host: host, port: port, dataFolder: data)
        do {
            try configuration.readEnvironment(isServing: isServing)
            return configuration
        } catch {
            throw Terminal.failure("\(error)", .badConfiguration)
        }
    }
}
