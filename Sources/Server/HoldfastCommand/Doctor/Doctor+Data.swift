import AccountCore
import AccountServer
import Foundation
import RateLimiting
import SQLiteStores

extension Doctor {
    /// Checks the data folder with its permissions and free space, the database, and the rate limits.
    func examineData() async -> [Finding] {
        guard case .postgres(let settings) = configuration.database else { return await examineFolder() }
        return await examineFolder() + examinePostgres(settings)
    }

    /// Checks the data folder. If the data isn't in PostgreSQL, also checks the database in the folder and the rate limits.
    private func examineFolder() async -> [Finding] {
        let folder = configuration.dataFolder
        guard let kind = kind(of: folder) else {
            return [
                .advice(
                    "data",
                    "there is no \(folder.path) yet",
                    "'holdfast serve' or 'holdfast migrate' creates it; or specify it with --data"
                )
            ]
        }
        guard kind == .typeDirectory else {
            return [.wrong("data", "\(folder.path) is not a folder", "move it away, or specify another folder with --data")]
        }
        let files = [examinePermissions(folder), examineSecret(folder), examineMailbox(folder), examineRoom(folder)]
        if configuration.database.isRemote { return files.compactMap { $0 } }
        return await files.compactMap { $0 } + [examineDatabase(), examineLimits(folder)]
    }

    /// Returns the type of a file; `nil` if it doesn't exist.
    private func kind(of url: URL) -> FileAttributeType? {
        try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
    }

    /// Checks the secret in the folder; `nil` if the settings contain the secret, or if there is none yet.
    private func examineSecret(_ folder: URL) -> Finding? {
        guard configuration.secret == nil else { return nil }
        do {
            guard try DataFolder.existingSecret(in: folder) != nil else { return nil }
            return .good("secret", "is there")
        } catch let error as UnreadableSecret {
            return .wrong("secret", error.problem, error.remedy)
        } catch {
            return .wrong("secret", "can't be read", "run this as the server's user, or 'chown -R' the folder to it")
        }
    }

    /// Returns a finding if the local mailbox is not a folder; `nil` if it is a folder or doesn't exist.
    private func examineMailbox(_ folder: URL) -> Finding? {
        let mailbox = folder.appending(path: "mailbox")
        guard let kind = kind(of: mailbox), kind != .typeDirectory else { return nil }
        return .wrong("mailbox", "\(mailbox.path) is not a folder", "move it away; the server creates a new one")
    }

    /// Checks that the server can write its files, and that no other user can read them.
    private func examinePermissions(_ folder: URL) -> Finding {
        guard FileManager.default.isWritableFile(atPath: folder.path) else {
            return .wrong(
                "data",
                "\(folder.path) can't be written",
                "run this as the server's user, or 'chown -R' the folder to it"
            )
        }
        let names = ["secret", "holdfast.sqlite3", "holdfast.sqlite3-wal", "limits.journal", "mailbox"]
        let locked = names.filter { name in
            let path = folder.appending(path: name).path
            return name != "secret" && FileManager.default.fileExists(atPath: path)
                && !FileManager.default.isWritableFile(atPath: path)
        }
        guard locked.isEmpty else {
            return .wrong(
                "data",
                "\(locked.joined(separator: ", ")) can't be written",
                "run this as the server's user, or 'chown -R' the folder to it, and 'chmod -R u+w' it"
            )
        }
        let open = (["."] + names)
            .filter { name in
                let path = name == "." ? folder.path : folder.appending(path: name).path
                let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
                return mode.map { $0.intValue & 0o077 != 0 } ?? false
            }
        guard open.isEmpty else {
            let names = open.map { $0 == "." ? "the folder itself" : $0 }.joined(separator: ", ")
            return .wrong("data", "other users than the owner can read \(names)", "chmod -R go= '\(folder.path)'")
        }
        return .good("data", "only the owner can read \(folder.path)")
    }

    /// Checks the free space: below 64 MiB is an error, below 1 GiB is a warning.
    private func examineRoom(_ folder: URL) -> Finding {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder.path)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value else {
            return .advice("disk", "the free space is unknown", "check it with df")
        }
        let text = "\(free / 1_048_576) MiB are free"
        let remedy = "free some space: on a full disk, every write fails"
        if free < 64 * 1_048_576 { return .wrong("disk", text, remedy) }
        return free < 1_024 * 1_048_576 ? .advice("disk", text, remedy) : .good("disk", text)
    }

    /// Checks that the SQLite database is sound, up to date and durable. The check of durability opens the database with `SQLiteDatabase`,
    /// which migrates outdated tables. This check therefore runs only if the tables are already up to date.
    private func examineDatabase() async -> Finding {
        let path = DataFolder.database(in: configuration.dataFolder).path
        guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber, size.intValue > 0 else {
            return examineMissingDatabase()
        }
        do {
            let found = try await SQLiteInspection(path: path)
            if let damage = found.damage.first {
                return .wrong("database", "is damaged: \(damage)", "restore a backup; see docs/operations/backup.md")
            }
            if found.isSealed {
                let folder = configuration.dataFolder.path
                return .wrong(
                    "database",
                    "was moved to PostgreSQL",
                    "set DATABASE_URL, or undo the move with 'holdfast migrate copy --from sqlite:\(folder) --undo'"
                )
            }
            if found.isFromNewerVersion {
                return .wrong(
                    "database",
                    "belongs to a newer version of holdfast",
                    "run that version, or restore an earlier backup"
                )
            }
            if !found.pendingMigrations.isEmpty {
                let text = "is \(found.pendingMigrations.count) steps behind this version"
                return .advice("database", text, "make a backup; 'holdfast migrate' or the next 'holdfast serve' migrates it")
            }
            // The tables are up to date, so this initializer migrates nothing. It activates WAL, which a restored backup lacks, because
            // `VACUUM INTO` writes a file without WAL. If WAL can't be activated, it throws.
            let database = try SQLiteDatabase(path: path)
            let isDurable = try await database.synchronousLevel() == 2
            try database.close()
            guard isDurable else { return .wrong("database", "is not durable", "use a local disk") }
            return .good("database", "\(size.intValue / 1_024) KiB, sound, up to date, WAL, every commit on disk")
        } catch {
            let text = "can't be opened: \(StartFailure(error))"
            let remedy = "check who owns \(path), that it is a database of holdfast, and that it is on a local disk"
            return .wrong("database", text, remedy)
        }
    }

    /// Returns the finding for a folder without a SQLite database: an error if the database was lost or is certainly in PostgreSQL.
    private func examineMissingDatabase() -> Finding {
        let folder = configuration.dataFolder
        guard !DataFolder.usedPostgres(folder) else {
            return .wrong("database", "is not in this folder: its server used PostgreSQL", "set DATABASE_URL as for the server")
        }
        let remedy = "set DATABASE_URL if the data is in PostgreSQL; otherwise"
        if DataFolder.hasInstallation(in: folder) {
            return .wrong(
                "database",
                "is missing, but this folder has the id of an installation",
                "\(remedy) restore it; see docs/operations/backup.md"
            )
        }
        let creation = "'holdfast serve' or 'holdfast migrate' creates it"
        return .advice("database", "does not exist yet", DataFolder.wasServed(folder) ? "\(remedy) \(creation)" : creation)
    }

    /// Checks that the rate limits are on, and that the server can write their journal, a file that keeps the counts over restarts.
    private func examineLimits(_ folder: URL) -> Finding {
        guard configuration.limits.mode != .off else {
            return .advice("limits", "are off", "remove RATE_LIMIT_MODE: without limits, passwords can be guessed")
        }
        let journal = folder.appending(path: "limits.journal").path
        guard FileManager.default.fileExists(atPath: journal) else { return .good("limits", "nothing was counted yet") }
        guard kind(of: URL(filePath: journal)) == .typeRegular else {
            return .wrong("limits", "\(journal) is not a file", "move it away: otherwise a restart resets all limits")
        }
        guard FileManager.default.isReadableFile(atPath: journal), FileManager.default.isWritableFile(atPath: journal) else {
            return .wrong(
                "limits",
                "\(journal) can't be read and written",
                "chown it to the server's user: otherwise a restart resets all limits"
            )
        }
        return .good("limits", "are kept over restarts")
    }
}
