import ArgumentParser
import Configuration
import Foundation
import SystemPackage

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

extension ServerConfiguration {
    /// The configuration of a command, read from the environment and `.env`; complains about every problem at once.
    /// - Throws: `ExitCode` 78 if a setting can't be used.
    static func load(
        host: String = "127.0.0.1",
        port: Int = 8080,
        data: URL,
        isServing: Bool = true
    ) throws -> ServerConfiguration {
        var configuration = ServerConfiguration(host: host, port: port, dataFolder: data)
        do {
            try configuration.read(isServing: isServing)
            return configuration
        } catch {
            Terminal.complain("\(error)")
            throw ExitCode.badConfiguration
        }
    }

    /// Reads the environment and, behind it, `.env` in the working folder.
    mutating func read(isServing: Bool) throws {
        let file = try EnvironmentFile(path: ".env").values
        let providers = [EnvironmentVariablesProvider(), EnvironmentVariablesProvider(environmentVariables: file)]
        let names = Set(ProcessInfo.processInfo.environment.keys).union(file.keys)
        try read(ConfigReader(providers: providers), names: names, isServing: isServing)
    }
}
