package import Crypto
package import Foundation
import PrivateFiles
import SQLiteStores
import ServiceLifecycle
import Synchronization

/// The folder with all data of a server: the database, the local mailbox, and the secret. Only its owner can read it.
///
/// A backup of the folder contains the secret, and therefore the keys of all tokens. The database and the secret are created with the
/// permissions 0600.
package struct DataFolder: Sendable {
    /// The address of the folder.
    package let url: URL

    /// The database of accounts.
    package var database: URL { Self.database(in: url) }
    /// The database of the rate limits. The server uses this file if the accounts are in PostgreSQL and the limits are not shared through
    /// Valkey.
    package var limitDatabase: URL { Self.limitDatabase(in: url) }
    /// The folder of the local mailbox.
    package var mailbox: URL { url.appending(path: "mailbox") }
    /// The folder with the locks of the running servers.
    package var serverLocks: URL { url.appending(path: "servers") }
    /// The journal of the changes to rate limits since they were last saved.
    package var limitJournal: URL { url.appending(path: "limits.journal") }

    /// The list of removed accounts.
    package var purgeList: PurgeListFile { PurgeListFile(url.appending(path: PurgeListFile.name)) }

    /// Returns the database of a folder.
    package static func database(in folder: URL) -> URL { folder.appending(path: "holdfast.sqlite3") }

    /// Returns the database of the rate limits of a folder.
    private static func limitDatabase(in folder: URL) -> URL { folder.appending(path: "limits.sqlite3") }

    /// Returns the file that a server locks while it uses a folder. The file stays when the server stops.
    fileprivate static func lockFile(in folder: URL) -> URL { folder.appending(path: "serve.lock") }

    /// Opens the folder, and creates it with the permissions 0700 if it is missing.
    /// - Throws: An error of the file system.
    package init(_ url: URL) throws {
        self.url = url
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// Creates the file of the database if it is missing. The new file is empty, and only its owner can read it.
    /// - Throws: An error of the file system.
    package func createDatabase() throws {
        // SQLite gives its WAL the permissions of the database.
        try Self.createExclusively(database, contents: Data())
    }

    /// Returns the secret of this folder: 256 random bits, created once.
    ///
    /// If two processes start at the same time, both receive the same secret.
    /// - Throws: ``UnreadableSecret``.
    package func secret() throws -> SymmetricKey {
        let fresh = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        try Self.createExclusively(Self.secretFile(in: url), contents: Data(fresh.base64EncodedString().utf8))
        guard let secret = try Self.existingSecret(in: url) else { throw UnreadableSecret(path: Self.secretFile(in: url).path) }
        return secret
    }

    /// Returns the secret of a folder; `nil` if it has none yet.
    /// - Throws: ``UnreadableSecret``.
    package static func existingSecret(in folder: URL) throws -> SymmetricKey? {
        let file = secretFile(in: folder)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let text = try? Data(contentsOf: file),
            let bytes = Data(
                base64Encoded: String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            ),
            bytes.count >= 32
        else { throw UnreadableSecret(path: file.path) }
        return SymmetricKey(data: bytes)
    }

    /// Returns the file of the secret.
    private static func secretFile(in folder: URL) -> URL { folder.appending(path: "secret") }

    /// Creates a file with the permissions 0600 if it is missing. Two processes can call this method at the same time.
    ///
    /// The method writes the contents to a draft, and then links the draft to the final name. The link fails if the final name exists.
    /// Therefore, no process can read a file with only a part of its contents.
    ///
    /// The method writes the contents to the medium before it links them. Otherwise, the file could be empty after a power failure, while
    /// the database with the data that depends on it is complete.
    /// - Parameters:
    ///   - file: The file.
    ///   - contents: The contents of a new file. An existing file is not changed.
    private static func createExclusively(_ file: URL, contents: Data) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else { return }
        let folder = file.deletingLastPathComponent()
        let draft = folder.appending(path: ".\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: draft) }
        guard FileManager.default.createFile(atPath: draft.path, contents: contents, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteNoPermission) }
        _ = try OpenFile(draft.path, creating: false).sync()
        do {
            try FileManager.default.linkItem(at: draft, to: file)
        } catch  where FileManager.default.fileExists(atPath: file.path) {
            return
        }
        // Some file systems can't sync a folder, and a server must start there too. SQLite also ignores this error.
        try? OpenFile.syncFolder(folder.path)
    }
}

extension DataFolder {
    /// Returns the file that contains the name of the installation to which this folder belongs.
    private static func installationFile(in folder: URL) -> URL { folder.appending(path: "installation-id") }

    /// Returns whether a folder has a database. An empty file doesn't count: a start that was interrupted left it behind.
    package static func hasDatabase(in folder: URL) -> Bool {
        let size = try? FileManager.default.attributesOfItem(atPath: database(in: folder).path)[.size] as? NSNumber
        return (size?.intValue ?? 0) > 0
    }

    /// Returns whether a folder has the id of an installation. Only the command `serve` writes it, also if the data is in PostgreSQL.
    package static func hasInstallation(in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: installationFile(in: folder).path)
    }

    /// Returns whether a server has used a folder, also a server that is a part of an app. Its data may be in PostgreSQL.
    package static func wasServed(_ folder: URL) -> Bool { FileManager.default.fileExists(atPath: lockFile(in: folder).path) }

    /// Returns whether the data of a server that used a folder certainly was in PostgreSQL. If several servers shared their rate limits,
    /// the method returns `false`, because the folder then doesn't show where the data was.
    package static func usedPostgres(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: limitDatabase(in: folder).path)
    }

    /// Checks that the database of a folder was not lost: that the folder has a database, or never had one. Call this method before a
    /// command creates a database.
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - mayCreate: Whether the command may create the database of a new installation even if a server has used the folder. Such a folder
    ///     may belong to an app on PostgreSQL, which writes no id. The method always refuses a folder with an id, or with the limits of a
    ///     server on PostgreSQL.
    /// - Throws: ``MissingDatabase``.
    package static func requireNoLoss(in folder: URL, mayCreate: Bool = false) throws {
        guard !hasDatabase(in: folder) else { return }
        let (isKnown, isInPostgres) = (hasInstallation(in: folder), usedPostgres(folder))
        guard isKnown || isInPostgres || !mayCreate && wasServed(folder) else { return }
        throw MissingDatabase(path: folder.path, isKnown: isKnown, isInPostgres: isInPostgres, wasServed: true)
    }

    /// Checks that the folder has a database, and that the database belongs to the folder and to the configuration. Call this method before
    /// anything is created in the folder, and before the tables are migrated.
    ///
    /// If a volume is not mounted, its folder is empty like a new folder. A server that creates a database there would start, but it would
    /// know none of the accounts. A new installation gets a new id, so the method removes the id of the lost one. If the data of the folder
    /// is certainly in PostgreSQL, no database is lost, and the id stays.
    /// - Parameters:
    ///   - folder: The data folder.
    ///   - configured: The name of the installation that the configuration requires; `nil` for any.
    ///   - mayCreate: Whether the server may create a new installation if the folder has no database.
    /// - Throws: ``MissingDatabase``; ``WrongInstallation``; `StoreFailure` if the database can't be read.
    package static func requireDatabase(in folder: URL, configured: String? = nil, mayCreate: Bool) throws {
        guard !hasDatabase(in: folder) else {
            let installation = try SQLiteDatabase.existingInstallation(in: database(in: folder))
            return try checkInstallation(installation, in: folder, configured: configured)
        }
        let isKnown = hasInstallation(in: folder)
        let isInPostgres = isKnown && usedPostgres(folder)
        guard mayCreate, !isInPostgres else {
            throw MissingDatabase(path: folder.path, isKnown: isKnown, isInPostgres: isInPostgres)
        }
        if let configured { throw WrongInstallation(database: nil, other: configured, source: "INSTALLATION_ID") }
        if isKnown { try FileManager.default.removeItem(at: installationFile(in: folder)) }
    }

    /// Checks that a database belongs to a folder and to the configuration, and writes nothing. Each database has the random name of its
    /// installation. Call this method before a server creates or changes anything.
    /// - Parameters:
    ///   - installation: The name in the database; `nil` if the database has no tables yet. New tables get a new name, so they never
    ///     belong to a folder or a configuration that names an installation.
    ///   - folder: The data folder, which may be missing.
    ///   - configured: The name that the configuration requires; `nil` for any.
    /// - Throws: ``WrongInstallation``.
    package static func checkInstallation(_ installation: String?, in folder: URL, configured: String?) throws {
        if hasInstallation(in: folder) {
            let file = installationFile(in: folder)
            let named = try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
            if named != installation { throw WrongInstallation(database: installation, other: named, source: file.path) }
        }
        if let configured, configured != installation {
            throw WrongInstallation(database: installation, other: configured, source: "INSTALLATION_ID")
        }
    }

    /// Checks that a database belongs to this folder and to the configuration. If this folder has no name yet, the method writes the name
    /// of the database into it.
    /// - Parameters:
    ///   - installation: The name in the database.
    ///   - configured: The name that the configuration requires; `nil` for any.
    /// - Throws: ``WrongInstallation``. The method then writes no name.
    package func requireInstallation(_ installation: String, configured: String?) throws {
        try Self.checkInstallation(installation, in: url, configured: configured)
        try Self.createExclusively(Self.installationFile(in: url), contents: Data((installation + "\n").utf8))
        // Another server may have written its name after the first check.
        try Self.checkInstallation(installation, in: url, configured: configured)
    }
}

/// A server in production found no database, probably because a volume is not mounted. Or a command found that a folder has lost its
/// database.
package struct MissingDatabase: Error, CustomStringConvertible {
    /// The data folder.
    package let path: String
    /// Whether the folder has the id of an installation.
    package let isKnown: Bool
    /// Whether the data of the folder certainly is in PostgreSQL.
    package var isInPostgres = false
    /// Whether a server has used the folder, even if the folder has no id.
    package var wasServed = false

    package var description: String {
        if isInPostgres { return "the data of \(path) is in PostgreSQL: set DATABASE_URL, or name another folder with --data" }
        if wasServed, !isKnown {
            return """
                a server has used \(path), but there is no database: set DATABASE_URL if the data is in PostgreSQL; otherwise restore the \
                database, or run 'holdfast migrate' once for a new installation
                """
        }
        return isKnown
            ? "the database is missing from \(path): set DATABASE_URL if the data is in PostgreSQL; otherwise restore the database, or run 'holdfast serve --create' once for a new installation"
            : "there is no data in \(path): mount its volume, name another folder with --data, or start once with --create for a new installation"
    }
}

/// An error: the database belongs to another installation.
package struct WrongInstallation: Error, CustomStringConvertible {
    /// The name of the installation in the database; `nil` if there is no database, or if it has no tables yet.
    package let database: String?
    /// The name that was expected.
    package let other: String
    /// The file or the setting with that name.
    package let source: String

    package var description: String {
        guard let database else {
            return """
                there is no database of Holdfast yet, but \(source) names installation \(other): check DATABASE_URL and --data, or \
                remove \(source) for a new installation
                """
        }
        return """
            the database belongs to installation \(database), but \(source) names \(other): restore the right database, or correct \
            \(source)
            """
    }
}

/// The lock that a server holds on its data folder.
///
/// Without the lock, two servers on one folder would each apply the rate limits separately. Commands such as `users` and `doctor` don't
/// take the lock.
///
/// As a service, the object releases the lock at the shutdown. If the service doesn't run, the object holds the lock until it is
/// deallocated. The operating system releases the lock when the process ends, even after a crash.
package final class DataFolderLock: Service, CustomStringConvertible {
    /// The descriptor of the lock file; `nil` after the release.
    private let file: Mutex<Int32?>
    /// The service group logs its services by their descriptions.
    package var description: String { "DataFolderLock" }

    /// Takes the lock.
    /// - Parameter isShared: Whether other servers on this machine can use the folder at the same time. All of these servers must pass
    ///   `true`.
    /// - Throws: ``DataFolderInUse`` if another server holds the lock; `POSIXError` if the file cannot be created.
    package init(_ folder: DataFolder, isShared: Bool = false) throws {
        let path = DataFolder.lockFile(in: folder.url).path
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        guard flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            close(descriptor)
            throw DataFolderInUse(path: folder.url.path)
        }
        file = Mutex<Int32?>(descriptor)
    }

    deinit {
        release()
    }

    /// Holds the lock until the shutdown or the cancellation.
    package func run() async throws {
        try? await gracefulShutdown()
        release()
    }

    /// Releases the lock. Does nothing if it is already released.
    private func release() {
        file.withLock { file in
            guard let descriptor = file else { return }
            // A child process can have a copy of the descriptor between fork and exec, so that `close` alone would not release the lock.
            flock(descriptor, LOCK_UN)
            close(descriptor)
            file = nil
        }
    }
}

/// Another server uses the data folder.
package struct DataFolderInUse: Error, CustomStringConvertible {
    package let path: String

    package var description: String {
        "another server uses \(path): stop it, use another folder, or start all its servers with --shared-data (sharesDataFolder)"
    }
}

/// The file of the secret is damaged or unreadable.
package struct UnreadableSecret: Error, CustomStringConvertible {
    package let path: String

    /// The problem, without its solution.
    package var problem: String { "\(path) does not contain a readable secret" }
    /// The solution, as the rest of a sentence.
    package let remedy = "restore it, or remove it to create a new one and sign out all users"

    package var description: String { "\(problem); \(remedy)" }
}
