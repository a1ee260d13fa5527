import AccountCore
import AccountServer
import ArgumentParser
import Foundation
import PostgresDriver
import PostgresStores
import StoreMigration
import Synchronization

extension Migrate {
    /// `holdfast migrate copy`: moves the data of a running server from SQLite to PostgreSQL.
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move the data of a running server from SQLite to PostgreSQL.",
            discussion: """
                Copies accounts, sessions, tokens, emails, the audit log and idempotency keys while the server runs. At the end, writes wait
                for at most 5 seconds. Then the data in SQLite is sealed: the old server still serves reads, and responds to all other
                requests with 503 and Retry-After. Servers with DATABASE_URL then replace the old server.

                You can interrupt the copy at any time, for example with Ctrl-C. The same command continues the copy. Before the data is
                sealed, the command compares the counts and checksums of all tables, and each row that changed during the copy.
                After that, it compares the counts again. If anything differs, the data is not sealed, or the seal is removed. Only if
                an earlier copy was interrupted after the seal, the seal stays; --undo removes it.

                Settings (environment or .env), as in 'holdfast serve --help':
                  DATABASE_URL      the PostgreSQL database, unless --to names it; other users can see a password on a command line
                  HOLDFAST_SECRET   the secret of the servers on PostgreSQL; the default is the secret of the folder. With the default,
                                    set HOLDFAST_SECRET="base64:$(cat FOLDER/secret)" on the servers; then no user has to sign in again

                Rate limits are not copied: they start without usage, in Valkey or in the folders of the servers.

                Exit codes: 0 the data is in PostgreSQL, 1 it could not be copied, 64 invalid usage, 78 invalid configuration.
                """
        )

        @Option(help: ArgumentHelp("The data folder of the running server, after sqlite:.", valueName: "sqlite:folder"))
        var from: String

        @Option(help: ArgumentHelp("The PostgreSQL database; DATABASE_URL by default.", valueName: "url"))
        var to: String?

        @Flag(help: "Check both sides, print what would be copied, and change nothing.")
        var dryRun = false

        @Flag(help: "Undo: remove the seal, or the data of an unfinished copy, from SQLite. Changes in PostgreSQL stay there.")
        var undo = false

        /// Validates the options before anything is read.
        func validate() throws {
            guard from.hasPrefix("sqlite:"), from.count > 7 else { throw ValidationError("--from must be sqlite:FOLDER") }
            if undo, dryRun || to != nil { throw ValidationError("--undo needs no other option than --from") }
        }

        /// The data folder of the server on SQLite.
        private var folder: URL { URL(fileURLWithPath: String(from.dropFirst(7)), isDirectory: true).standardizedFileURL }
        /// The database in the folder.
        private var file: URL { DataFolder.database(in: folder) }

        /// Copies the data, or undoes a copy.
        /// - Throws: `ExitCode` 1 or 78, after the reason was printed.
        func run() async throws {
            guard DataFolder.hasDatabase(in: folder) else {
                Terminal.complain("There is no SQLite data in \(folder.path); specify the data folder of the server with --from.")
                throw ExitCode.failure
            }
            do {
                if undo { return try await goBack() }
                try await copy()
            } catch let code as ExitCode {
                throw code
            } catch {
                // After an error, the copied rows stay in PostgreSQL.
                let hint = error is StoreFailure && !undo && !dryRun ? " The same command continues the copy." : ""
                throw Terminal.failure("The data could not be \(undo ? "unsealed" : "copied"): \(StartFailure(error)).\(hint)")
            }
        }

        /// Undoes a copy. After a finished copy, removes the seal, which prevents servers from writing to the SQLite database. After an
        /// unfinished copy, removes its log of changes from SQLite.
        private func goBack() async throws {
            let wasSealed = try await StoreCopy.undo(file)
            Terminal.say(
                wasSealed
                    ? "The seal was removed: servers on SQLite can write again. Stop those on PostgreSQL; their changes are not in SQLite."
                    : "Nothing was sealed. The data of the unfinished copy was removed."
            )
        }

        /// Copies the data with a progress bar, and prints the counts and checksums of all tables.
        private func copy() async throws {
            let configuration = try AccountServerConfiguration.load(data: folder, isServing: false)
            let settings = try settings(configuration)
            guard try configuration.secret != nil || DataFolder.existingSecret(in: folder) != nil else {
                Terminal.complain("There is no secret in \(folder.path); set HOLDFAST_SECRET to the secret of the server.")
                throw ExitCode.badConfiguration
            }
            let keys = try DataFolder(folder).keys(secret: configuration.secret)
            try await PostgresDeployment.withDatabase(settings, isLong: true) { database in
                let copy = StoreCopy(from: file, to: database, emailKeys: EmailKeys(keys.emailKeys))
                if dryRun {
                    for (table, rows) in try await copy.check() { Terminal.say("\(table.padded(17)) \(rows)") }
                    return
                }
                let start = ContinuousClock.now
                let progress = CopyProgressOutput()
                let report = try await copy.run { progress.show($0) }
                progress.clear()
                if let report {
                    Terminal.say(Self.summary(of: report, after: start.duration(to: .now)))
                } else {
                    Terminal.say("The data was moved before.")
                }
                Terminal.say(advice(configuration))
            }
        }

        /// Returns the settings of the PostgreSQL database.
        /// - Throws: `ExitCode` 78 if neither `--to` nor `DATABASE_URL` names a valid database.
        private func settings(_ configuration: AccountServerConfiguration) throws -> PostgresSettings {
            if let to {
                do {
                    return try PostgresSettings(url: to, requiresVerifiedTLS: configuration.environment == .production)
                } catch {
                    throw Terminal.failure("--to is invalid: \(error).", .badConfiguration)
                }
            }
            guard case .postgres(let settings) = configuration.database else {
                throw Terminal.failure("Specify the PostgreSQL database with DATABASE_URL or --to.", .badConfiguration)
            }
            return settings
        }

        /// Returns a table with the counts and checksums, and the time for which writes waited.
        private static func summary(of report: StoreCopy.Report, after duration: Duration) -> String {
            var lines = ["\("table".padded(17)) \("rows".padded(10)) \("checksum in SQLite".padded(20)) checksum in PostgreSQL"]
            for table in report.tables {
                lines.append(
                    "\(table.name.padded(17)) \("\(table.rows)".padded(10)) \(table.source.sum.hex.padded(20)) \(table.target.sum.hex)"
                )
            }
            let seconds = String(format: "%.1f", duration / .seconds(1))
            lines.append("Copied in \(seconds) s; \(report.replayed) rows changed during the copy and were compared one by one.")
            if let pause = report.pause {
                lines.append("Writes waited for \(String(format: "%.2f", pause / .seconds(1))) s. SQLite is sealed.")
            } else {
                lines.append("SQLite is sealed: an earlier copy sealed it and did not end.")
            }
            return lines.joined(separator: "\n")
        }

        /// Returns the next steps of the operator.
        private func advice(_ configuration: AccountServerConfiguration) -> String {
            var lines = ["", "Now start the servers with DATABASE_URL, and stop the one on SQLite."]
            if configuration.secret == nil {
                lines.append("They need the secret of the folder: HOLDFAST_SECRET=\"base64:$(cat \(folder.path)/secret)\"")
            }
            lines.append("Rate limits were not copied. To go back: holdfast migrate copy --from sqlite:\(folder.path) --undo")
            return lines.joined(separator: "\n")
        }
    }
}

/// Shows the progress of a copy. A terminal shows a bar for each step. Other outputs get a line for each tenth of a step.
private final class CopyProgressOutput: Sendable {
    private let bar = ProgressBar()
    private let shown = Mutex((step: "", tenth: -1))

    /// Shows an event of the copy.
    func show(_ event: StoreCopy.Event) {
        switch event {
        case .copied(let done, let total): show("Copying", done, of: total)
        case .compared(let done, let total): show("Comparing", done, of: total)
        case .replayed(let count):
            if enter("Copying changes", tenth: count / 10_000) { bar.say("Copying changes: \(count) rows") }
        case .counting: bar.say("Counting rows")
        }
    }

    /// Removes the bar.
    func clear() { bar.clear() }

    /// Shows the progress of a step: as a bar, or as a line for each tenth.
    private func show(_ step: String, _ done: Int, of total: Int) {
        let isNew = enter(step, tenth: total == 0 ? 10 : 10 * done / total)
        if bar.isShown {
            bar.show(done, of: total)
        } else if isNew {
            bar.say("\(step): \(done) of \(total) rows")
        }
    }

    /// Returns `true` when a step enters this tenth for the first time, so that the caller prints a line.
    private func enter(_ step: String, tenth: Int) -> Bool {
        shown.withLock { shown in
            defer { shown = (step, tenth) }
            return shown != (step, tenth)
        }
    }
}

extension String {
    /// Returns the text with spaces up to a length. A longer text stays unchanged.
    fileprivate func padded(_ length: Int) -> String { padding(toLength: max(length, count), withPad: " ", startingAt: 0) }
}

extension UInt64 {
    /// The number as 16 hexadecimal digits.
    fileprivate var hex: String { String(format: "%016lx", self) }
}
