import AccountServer
import ArgumentParser
import Foundation
import SQLiteStores

/// `holdfast migrate`: migrates the database to this version.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Migrate the database to this version.",
        discussion: """
            Creates missing tables and migrates existing tables, in the data folder or in the database of DATABASE_URL. 'holdfast serve'
            also migrates when it starts. Use this command to migrate earlier, after a backup. Several such commands can run at once.

            'holdfast migrate copy' moves the data of a running server from SQLite to PostgreSQL.

            Exit codes: 0 the database is up to date, 1 the migration failed, 64 invalid usage, 78 invalid configuration.
            """,
        subcommands: [Copy.self]
    )

    @OptionGroup var data: DataOptions

    /// Migrates the database and prints the executed steps.
    /// - Throws: `ExitCode` 1 if the migration fails. Completed steps stay.
    func run() async throws {
        let configuration = try AccountServerConfiguration.load(data: data.folder, isServing: false)
        let (name, isNew, steps): (String, Bool, [String])
        do {
            if case .postgres(let settings) = configuration.database {
                name = "The database"
                (isNew, steps) = try await PostgresDeployment.migrate(settings)
            } else {
                name = DataFolder.database(in: data.folder).path
                (isNew, steps) = try await migrateFile(name)
            }
        } catch {
            throw Terminal.failure("The database could not be migrated: \(StartFailure(error)).")
        }
        if isNew {
            Terminal.say("\(name) was made.")
        } else if steps.isEmpty {
            Terminal.say("\(name) is up to date.")
        } else {
            Terminal.say((["\(name) was migrated:"] + steps.map { "  \($0)" }).joined(separator: "\n"))
        }
    }

    /// Migrates the SQLite file by opening it as a server does. An empty file counts as new.
    private func migrateFile(_ path: String) async throws -> (isNew: Bool, steps: [String]) {
        try DataFolder.requireNoLoss(in: data.folder, mayCreate: true)
        let pending = data.exists ? try await SQLiteInspection(path: path).pendingMigrations : nil
        try await Stores(data.folder).close()
        return (pending == nil, pending ?? [])
    }
}
