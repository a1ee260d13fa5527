import AccountServer
import ArgumentParser
import Foundation
import Hummingbird
import ServerMiddleware

/// A small Hummingbird app with accounts, whose errors are in the contract.
@main
struct NotesApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-notes-app",
        abstract: "Serve notes, to see what a Hummingbird app's errors look like in the contract.",
        discussion: """
            Try, with the address that is printed first:
              curl -i $URL/nothing                        404, and -X DELETE $URL/notes: 405 with Allow
              curl -i $URL/notes -H 'Content-Type: application/json' -d '{"title":"","items":[{"text":7}]}'
              curl -i $URL/notes -H 'Content-Type: application/json' -H 'Idempotency-Key: "a"' -d '{"title":"Milk","items":[]}'
                                                          twice: one note, and the second answer is the first again
              curl -i -X DELETE $URL/notes/1              the app's own code NOTE_LOCKED, 423
              curl -i $URL/notes/archive                  an error of the system's, of which the client learns nothing
              curl -i $URL/notes/1/translation            a route that hangs: 504 after --deadline
              curl -i $URL/notes/mine                     401 without an access token; with one the notes of its user
              curl -i $URL/api/auth/register -H 'Content-Type: application/json' \\
                -d '{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}'
            Add -H 'Accept: application/problem+json' for problem details, -H 'Accept-Language: es' for Spanish.
            """
    )

    @Option(help: "The port to listen on; 0 means any that is free.")
    var port = 8081

    @Option(help: "The seconds that a route may take.")
    var deadline = 5

    @Option(help: "The seconds after which a repetition may take over the idempotency key of a killed process.")
    var lease = 10

    @Option(help: "The folder of the accounts and notes.")
    var data = "./notes-data"

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535 (is \(port))") }
        guard deadline > 0 else { throw ValidationError("--deadline must be positive (is \(deadline))") }
        guard lease > deadline else { throw ValidationError("--lease must be longer than --deadline (is \(lease))") }
    }

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
