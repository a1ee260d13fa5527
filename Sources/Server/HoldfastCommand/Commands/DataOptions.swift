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
            Terminal.complain(
                configuration.database.isRemote
                    ? "The database has no tables of Holdfast; check DATABASE_URL."
                    : "There is no data in \(folder.path); specify the folder with --data."
            )
            throw ExitCode.failure
        }
        return try await open(configuration)
    }

    /// Opens the stores of a configuration. If there is no installation, creates one and reports this on standard error, because the folder
    /// or the database may be the wrong one.
    /// - Throws: `ExitCode` 1 if the folder has lost its database. A new database would have another installation id, and no server would
    ///   start with it.
    func stores(_ configuration: AccountServerConfiguration) async throws -> Stores {
        let isRemote = configuration.database.isRemote
        let isNew = try await isMissing(configuration)
        do {
            if !isRemote { try DataFolder.requireNoLoss(in: folder) }
        } catch {
            Terminal.complain("The database can't be opened: \(error).")
            throw ExitCode.failure
        }
        let stores = try await open(configuration)
        if isNew {
            let place = isRemote ? "The database had no tables of Holdfast" : "There was no data in \(folder.path)"
            Terminal.complain("\(place); a new installation was created there.")
        }
        return stores
    }

    /// Returns whether there is no installation, in the folder or at `DATABASE_URL`. Creates nothing.
    func isMissing(_ configuration: AccountServerConfiguration) async throws -> Bool {
        guard case .postgres(let settings) = configuration.database else { return !exists }
        return try await reporting { try await PostgresDeployment.isNew(settings) }
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
            Terminal.complain("The database can't be opened: \(StartFailure(error)).")
            throw ExitCode.failure
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
            Terminal.complain("\(error)")
            throw ExitCode.badConfiguration
        }
    }
}
