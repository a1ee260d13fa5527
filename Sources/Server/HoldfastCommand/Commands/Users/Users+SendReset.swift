import AccountCore
import AccountServer
import ArgumentParser
import Foundation

extension Users {
    /// `holdfast users send-reset`
    struct SendReset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "send-reset",
            abstract: "Send the user an email with a link that sets a new password.",
            discussion: """
                A running server sends the email within seconds; otherwise, the next server that starts sends it. As with a request of \
                the user, an account gets at most PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR such emails.
                """
        )

        @OptionGroup var which: AccountOptions
        @OptionGroup var data: DataOptions

        /// Queues the email. The server that sends it creates the link.
        /// - Throws: `ExitCode` 1 if the account doesn't exist or its password can't be reset.
        func run() async throws {
            let stores = try await data.existingStores()
            let account = try await which.account(in: stores)
            guard account.isRecoverable else {
                let state = account.purgeAt == nil ? account.state.name : "deleted"
                throw Terminal.failure("\(account.id) is \(state), so its password can't be reset.")
            }
            let time = try await stores.steadyTime().now()
            let subject = MailIntent.Subject.passwordReset(account.email)
            try await stores.intents.enqueue(MailIntent(subject: subject, language: account.language, createdAt: time))
            Terminal.say("\(account.id) gets a reset email")
        }
    }
}
