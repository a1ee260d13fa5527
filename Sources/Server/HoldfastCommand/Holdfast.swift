import AccountServer
import ArgumentParser

/// The command `holdfast`. Each subcommand is a separate type, which reads its configuration itself.
@main
struct Holdfast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast",
        abstract: "A server for the accounts, sessions and password resets of an app.",
        discussion: """
            Start with 'holdfast demo', which demonstrates all features on a temporary server, or with
            'ENVIRONMENT=development holdfast serve', which serves on http://127.0.0.1:8080 with a local mailbox.
            'holdfast call' shows how a client handles the responses of any API.

            Settings are read from the environment and from the file .env in the working directory.

            Exit codes: 0 success, 1 failure, 64 invalid usage, 78 invalid configuration.
            """,
        version: AccountServer.version,
        subcommands: [
            Serve.self, Demo.self, Call.self, Users.self, Purge.self, MailCommand.self, Keys.self, Links.self, Codes.self,
            DoctorCommand.self,
            Migrate.self, DemoApp.self,
        ]
    )
}
