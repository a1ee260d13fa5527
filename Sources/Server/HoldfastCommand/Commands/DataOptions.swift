import AccountServer
import ArgumentParser
import Foundation
import Logging

/// Where the data is.
struct DataOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder with the database, the local mailbox and the secret.", valueName: "folder"))
    var data = "./data"

    var folder: URL { URL(fileURLWithPath: data, isDirectory: true).standardizedFileURL }

    /// Whether there is a database in the folder.
    var exists: Bool { FileManager.default.fileExists(atPath: DataFolder.database(in: folder).path) }

    /// The stores that a server has made, in the folder or where `DATABASE_URL` says.
    /// - Throws: `ExitCode` 1 if there are none.
    func existingStores() async throws -> Stores {
        let configuration = try AccountServerConfiguration.load(data: folder, isServing: false)
        if case .sqlite = configuration.database, !exists {
            Terminal.complain("There is no data in \(folder.path); name its folder with --data.")
            throw ExitCode.failure
        }
        return try await stores(configuration)
    }

    /// The stores of a configuration; makes a data folder that is missing.
    func stores(_ configuration: AccountServerConfiguration) async throws -> Stores {
        do {
            return try await Stores.open(configuration, logger: .standard(level: .critical))
        } catch let error where configuration.database.isRemote {
            Terminal.complain("The database can't be used: \(StartFailure(error)).")
            throw ExitCode.failure
        }
    }
}

extension AccountDatabase {
    /// Whether the data is on a server.
    var isRemote: Bool { if case .sqlite = self { false } else { true } }
}

extension AccountServerConfiguration {
    /// The configuration of a command, read from the environment and `.env`; complains about every problem at once.
    /// - Throws: `ExitCode` 78 if a setting can't be used.
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
