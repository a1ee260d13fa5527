import AccountServer
import ArgumentParser

/// The command `holdfast`.
@main
struct Holdfast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast",
        abstract: "Accounts, sessions and password reset for an app, in one server.",
        discussion: """
            Start with 'holdfast demo', which walks through the whole story on a server of its own, or with
            'ENVIRONMENT=development holdfast serve', which serves on http://127.0.0.1:8080 with a local mailbox.
            'holdfast call' shows what a client makes of any API.

            Settings are read from the environment and from a file .env in the working directory.

            Exit codes: 0 done, 1 failed, 64 bad usage, 78 bad configuration.
            """,
        version: AccountServer.version,
        subcommands: [
            Serve.self, Demo.self, Call.self, Users.self, MailCommand.self, Keys.self, Links.self, Codes.self, DoctorCommand.self,
            Migrate.self,
        ]
    )
}
