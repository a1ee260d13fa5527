import AccountCore
import AccountServer
import ArgumentParser
import Foundation
import Logging

/// `holdfast purge`: removes deleted accounts.
struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove deleted accounts whose time has come, or those of a list again after a restore.",
        discussion: """
            A running server removes accounts by itself: those that their users deleted DELETION_GRACE_DAYS ago, and with UNVERIFIED_DAYS those
            that were never verified and not used. This command does the same at once; a server may run meanwhile.

            The ids of removed accounts are added to purged-accounts.txt in the data folder. A backup contains accounts that were removed after
            it, so store this list apart from the backups. After a restore, and before the server starts, remove these accounts again:

              holdfast purge --reapply purged-accounts.txt

            With DATABASE_URL, each server has a list in its own data folder; use the lists of all servers.
            """
    )

    @Flag(help: "Print the list of removed accounts, and remove nothing.")
    var list = false

    @Option(help: ArgumentHelp("Remove the accounts of a list again.", valueName: "file"), completion: .file())
    var reapply: String?

    @OptionGroup var data: DataOptions

    /// Refuses options that exclude each other.
    func validate() throws {
        guard !list || reapply == nil else { throw ValidationError("--list and --reapply exclude each other") }
    }

    /// Removes accounts, or prints the list of removed accounts.
    func run() async throws {
        if list { return try printList() }
        let purges = try reapply.map { try lines(of: URL(fileURLWithPath: $0)) }
        let configuration = try AccountServerConfiguration.load(data: data.folder, isServing: false)
        let stores = try await data.existingStores()
        let purge = try AccountPurge(stores, configuration, logger: .standard(level: .error))
        let count =
            if let purges { try await purge.reapply(Set(purges.map(\.id)).sorted { $0.description < $1.description }) } else {
                try await purge.purge()
            }
        try await stores.close()
        Terminal.say(count == 1 ? "1 account removed" : "\(count) accounts removed")
    }

    /// Prints the list of the data folder as it is.
    /// - Throws: `ExitCode` 1 if the list can't be read, or if the folder belongs to no installation.
    private func printList() throws {
        let file = data.folder.appending(path: PurgeListFile.name)
        guard FileManager.default.fileExists(atPath: file.path) else {
            // With DATABASE_URL, the folder has no database. If no server has started there, it doesn't have the installation's id either.
            // A server that is a part of an app writes no id, but it leaves the file of its lock behind.
            let isRemote = try AccountServerConfiguration.load(data: data.folder, isServing: false).database.isRemote
            let isUsed = DataFolder.hasInstallation(in: data.folder) || DataFolder.wasServed(data.folder)
            guard data.exists || isUsed || isRemote else {
                throw Terminal.failure("There is no data in \(data.folder.path); specify the folder with --data.")
            }
            Terminal.complain("No account was removed from \(data.folder.path) yet.")
            return
        }
        for purge in try lines(of: file) { Terminal.say(purge.line) }
    }

    /// Reads a list of removed accounts.
    /// - Throws: `ExitCode` 1 if the list can't be read completely. Otherwise, the command could miss an account.
    private func lines(of file: URL) throws -> [ListedPurge] {
        do {
            return try PurgeListFile.read(file)
        } catch let error as UnreadablePurgeList {
            throw Terminal.failure("The list can't be used: \(error).")
        }
    }
}
