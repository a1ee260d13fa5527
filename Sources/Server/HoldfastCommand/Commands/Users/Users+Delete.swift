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
                of former addresses have expired.
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
            if !now, let purgeAt = account.purgeAt {
                Terminal.say("\(account.id) is deleted already, and will be removed after \(purgeAt.formatted(.iso8601))")
                return
            }
            let question = "Delete the account \(account.id) of \(account.email.text) and end its sessions?"
            guard yes || Terminal.confirm(question) else {
                Terminal.complain("The account was not changed.")
                throw ExitCode.failure
            }
            let time = stores.wallTime()
            let queueTime = try await stores.steadyTime().now()
            let grace = now ? Duration.zero : configuration.accountRules.deletionGrace
            let event = AuditEvent(kind: .deleted, accountID: account.id, time: time, origin: .none)
            let purgeAt = try await stores.records.change(account.id, at: time) { record in
                record.delete(grace: grace, at: time, queueTime: queueTime, event: event)
            }
            guard let purgeAt else {
                Terminal.complain("The account was removed meanwhile.")
                throw ExitCode.failure
            }
            Terminal.say("\(account.id) is deleted, and will be removed after \(purgeAt.formatted(.iso8601))")
        }
    }
}
