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
    var exists: Bool { FileManager.default.fileExists(atPath: DataFolder.database(in: folder).path) }

    /// Opens the stores of an installation, in the folder or at `DATABASE_URL`.
    /// - Throws: `ExitCode` 1 if there is no installation.
    func existingStores() async throws -> Stores {
        let configuration = try AccountServerConfiguration.load(data: folder, isServing: false)
        if case .sqlite = configuration.database, !exists {
            Terminal.complain("There is no data in \(folder.path); specify the folder with --data.")
            throw ExitCode.failure
        }
        return try await stores(configuration)
    }

    /// Opens the stores of a configuration, and creates a missing data folder.
    func stores(_ configuration: AccountServerConfiguration) async throws -> Stores {
        do {
            return try await Stores.open(configuration, logger: .standard(level: .critical))
        } catch let error where configuration.database.isRemote {
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
