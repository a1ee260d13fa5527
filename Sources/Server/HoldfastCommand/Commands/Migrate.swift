import AccountServer
import ArgumentParser
import Foundation
import SQLiteStores

/// `holdfast migrate`
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the database up to date.",
        discussion: """
            Makes the data folder and the database if there are none. 'holdfast serve' does the same when it starts; this is for who wants it
            done, and the backup made, before. Several may run at once.

            Exit codes: 0 it is up to date, 1 it could not be brought there, 64 bad usage.
            """
    )

    @OptionGroup var data: DataOptions

    func run() async throws {
        let path = DataFolder.database(in: data.folder).path
        do {
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
            let pending = (size?.intValue ?? 0) > 0 ? try await SQLiteInspection(path: path).pendingMigrations : nil
            try Stores(data.folder).close()
            switch pending {
            case nil: Terminal.say("\(path) was made.")
            case []: Terminal.say("\(path) is up to date.")
            case let steps?: Terminal.say((["\(path) was brought up to date:"] + steps.map { "  \($0)" }).joined(separator: "\n"))
            }
        } catch {
            Terminal.complain("\(path) could not be brought up to date: \(StartFailure(error)).")
            throw ExitCode.failure
        }
    }
}
