import AccountServer
import ArgumentParser
import Foundation

/// Where the data is.
struct DataOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder with the database, the local mailbox and the secret.", valueName: "folder"))
    var data = "./data"

    var folder: URL { URL(fileURLWithPath: data, isDirectory: true).standardizedFileURL }

    /// Whether there is a database in the folder.
    var exists: Bool { FileManager.default.fileExists(atPath: DataFolder.database(in: folder).path) }

    /// The stores of a folder that a server has made.
    /// - Throws: `ExitCode` 1 if there is none.
    func existingStores() throws -> Stores {
        guard exists else {
            Terminal.complain("There is no data in \(folder.path); name its folder with --data.")
            throw ExitCode.failure
        }
        return try Stores(folder)
    }
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
