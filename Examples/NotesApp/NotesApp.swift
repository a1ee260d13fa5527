import AccountServer
import ArgumentParser
import Foundation
import Hummingbird
import ServerMiddleware

/// A small Hummingbird application with accounts and notes. All its error responses have the format of the error contract.
///
/// It shows how an application mounts the account server's routes, adds its own error codes, limits load, and commits idempotency keys
/// together with its data.
@main
struct NotesApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-notes-app",
        abstract: "Run a server with accounts and notes, to try the error responses of the contract.",
        discussion: """
            The app prints its address. Use it as $URL, and try:
              curl -i $URL/nothing                        404; with -X DELETE $URL/notes: 405 with Allow
              curl -i $URL/notes -H 'Content-Type: application/json' -d '{"title":"","items":[{"text":7}]}'
              curl -i $URL/notes -H 'Content-Type: application/json' -H 'Idempotency-Key: "a"' -d '{"title":"Milk","items":[]}'
                                                          send it twice: one note is added, and both bodies are equal
              curl -i -X DELETE $URL/notes/1              423 with the application's own code NOTE_LOCKED
              curl -i $URL/notes/archive                  an error of the system; the response contains no details of it
              curl -i $URL/notes/1/translation            a route that doesn't respond: 504 after --deadline
              curl -i $URL/notes/mine                     401 without an access token, otherwise the notes of its user
              curl -i $URL/api/auth/register -H 'Content-Type: application/json' \\
                -d '{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}'
            Add -H 'Accept: application/problem+json' for problem details, -H 'Accept-Language: es' for Spanish.
            """
    )

    @Option(help: "The port to listen on; 0 for any free port.")
    var port = 8081

    @Option(help: "The seconds after which a request gets 504.")
    var deadline = 5

    @Option(help: "The seconds after which a repetition may take over the idempotency key of a killed process.")
    var lease = 10

    @Option(help: "The folder of the databases with accounts and notes.")
    var data = "./notes-data"

    /// Checks the ranges of the options.
    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535 (is \(port))") }
        guard deadline > 0 else { throw ValidationError("--deadline must be positive (is \(deadline))") }
        guard lease > deadline else { throw ValidationError("--lease must be longer than --deadline (is \(lease))") }
    }

    /// Prints the address when the application listens, and runs until a signal stops the process.
    func run() async throws {
        var accounts = AccountServerConfiguration(dataFolder: URL(filePath: data))
        accounts.environment = .development
        accounts.port = port
        let deadline = RequestDeadline(.seconds(deadline))
        let application = try await makeApplication(
            port: port,
            deadline: deadline,
            lease: .seconds(lease),
            accounts: accounts
        ) { port in
            print("http://127.0.0.1:\(port)")
            fflush(nil)
        }
        try await application.runService()
    }
}
