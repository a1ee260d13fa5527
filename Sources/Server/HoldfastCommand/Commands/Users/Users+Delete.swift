import AccountContract
import AccountCore
import AccountServer
import ArgumentParser
import Foundation

extension Users {
    /// `holdfast users delete`
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an account: its sessions and links end at once.",
            discussion: """
                The effect is the same as if the user deleted the account in the app. The user receives an email with a link that restores \
                the account. After DELETION_GRACE_DAYS, a running server removes the account with its data, but not before the undo links \
                of former addresses have expired. With --now, the user receives an email only if the account has former addresses.
                """
        )

        @OptionGroup var which: AccountOptions

        @Flag(help: "Delete the account without a confirmation.")
        var yes = false

        @Flag(help: "Remove the account without the days of DELETION_GRACE_DAYS.")
        var now = false

        @OptionGroup var data: DataOptions

        /// Deletes the account and stores the event, in one transaction.
        /// - Throws: `ExitCode` 1 if the account doesn't exist or the user of the command doesn't confirm.
        func run() async throws {
            let stores = try await data.existingStores()
            let configuration = try AccountServerConfiguration.load(data: data.folder, isServing: false)
            let account = try await which.account(in: stores)
            if !now, let purgeAt = account.purgeAt { return report(account.id, isNew: false, purgeAt) }
            let question = "Delete the account \(account.id) of \(account.email.text) and end its sessions?"
            guard yes || Terminal.confirm(question) else { throw Terminal.failure("The account was not changed.") }
            let time = stores.wallTime()
            let queueTime = try await stores.steadyTime().now()
            let grace = now ? Duration.zero : configuration.accountRules.deletionGrace
            let event = AuditEvent(kind: .deleted, accountID: account.id, time: time, origin: .none)
            let deletion = try await stores.records.change(account.id, at: time) { [now] record -> (isNew: Bool, purgeAt: Date) in
                // The user may have deleted the account during the question. A second deletion would postpone the removal.
                if !now, let purgeAt = record.account.purgeAt { return (false, purgeAt) }
                return (true, record.delete(grace: grace, at: time, queueTime: queueTime, event: event))
            }
            guard let deletion else { throw Terminal.failure("The account was removed meanwhile.") }
            report(account.id, isNew: deletion.isNew, deletion.purgeAt)
        }

        /// Prints when the account will be removed.
        /// - Parameter isNew: Whether this command has deleted the account.
        private func report(_ id: Account.ID, isNew: Bool, _ purgeAt: Date) {
            Terminal.say("\(id) is deleted\(isNew ? "" : " already"), and will be removed after \(purgeAt.formatted(.iso8601))")
        }
    }
}
