import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HoldfastURLSession
import Hummingbird
import NIOCore
import ResilientHTTP
import ServerMiddleware
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ReadmeTests {
    @Test("The curl commands of docs/server/account-api.md return the documented statuses")
    func walk() async throws {
        let block = try Document("docs/server/account-api.md").block(after: "<!-- walk:", language: "sh")
        let promised = block.matches(of: /# → (\d{3})/).map { String($0.1) }
        #expect(promised.count >= 10)
        try await withServer {
            $0.limits = LimitSettings()
        } _: { server in
            let script =
                "set -euo pipefail\n" + block.replacing("http://127.0.0.1:8080\n", with: server.url.absoluteString + "\n")
            let run = try await bash(script)
            #expect(run.status == 0, "\(run.errors)")
            let given = run.output.split(separator: "\n").filter { $0.wholeMatch(of: /\d{3}/) != nil }.map(String.init)
            #expect(given == promised, "\(run.output)")
            // On a slow machine, the section takes longer than a minute.
            #expect(run.output.contains(/intenta de nuevo en (?:1 hora|\d\d minutos)\./), "\(run.output)")
        }
    }

    @Test("The README's app greets a user, or shows why it can't")
    func example() async throws {
        try await withServer { server in
            #expect(try await Self.greet(server.url) == "Error: Correo o contraseña incorrectos")
            _ = try await server.client().register(
                email: try EmailAddress("ana@example.com"),
                password: try Password("wrong password"),
                firstName: try FirstName("Ana")
            )
            #expect(try await Self.greet(server.url) == "Hola Ana")
        }
    }

    private static func greet(_ url: URL) async throws -> String {
        // snippet: readme-app
        let api = APIClient(baseURL: url, language: .spanish)
        let accounts = AccountClient(api: api)
        do {
            let user = try await accounts.signIn(email: EmailAddress("ana@example.com"), password: Password("wrong password"))
            return "Hola \(user.firstName)"
        } catch {
            let shown = APIError(error).presentation(in: .spanish, now: Date())
            return "\(shown.title): \(shown.message)"
        }
        // snippet end
    }

    @Test("The README's Hummingbird app responds in the contract")
    func mounting() async throws {
        struct Note: Decodable {
            let title: String
        }

        // snippet: readme-server
        let router = ContractRouter(context: BasicContractContext.self)
        router.post("/notes") { request, context in try await request.decode(as: Note.self, context: context).title }
        let application = Application(router: router, server: .contractHTTP1())
        // snippet end
        try await withApplication { logger, listening in
            Application(
                responder: application.responder,
                server: application.server,
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { listening($0.localAddress?.port ?? 0) },
                logger: logger
            )
        } _: { url in
            let json = ["Content-Type: application/json"]
            let fine = try await RawHTTP.send("POST", "/notes", to: url, headers: json, body: Array(#"{"title":"T"}"#.utf8))
            #expect(fine.text == "T")
            let empty = try await RawHTTP.send("POST", "/notes", to: url, headers: json, body: Array("{}".utf8))
            #expect(empty.decoded.violations.map(\.pointer) == ["#/title"])
            #expect(try await RawHTTP.send("GET", "/notes", to: url)["Allow"] == "POST")
            #expect(try await RawHTTP.exchange(Array("HELLO\r\n\r\n".utf8), with: url)["X-Error-Code"] == "REQUEST_MALFORMED")
        }
    }

    @Test("A mounted account server registers a user and greets by access token")
    func mountingAccounts() async throws {
        try await withFolder { folder in
            // snippet: readme-hummingbird
            struct AppContext: RemoteAddressRequestContext {
                var coreContext: CoreRequestContextStorage
                let remoteAddress: SocketAddress?

                init(source: ApplicationRequestContextSource) {
                    coreContext = .init(source: source)
                    remoteAddress = source.channel.remoteAddress
                }
            }

            var configuration = AccountServerConfiguration(dataFolder: folder)
            configuration.environment = .development
            let accounts = try await AccountServer(configuration)
            let router = Router(context: AppContext.self)
            try accounts.addRoutes(to: router)
            router.get("/hello") { request, _ in "Hello, \(try await accounts.user(of: request).firstName)" }
            let application = Application(
                router: router,
                services: accounts.services,
                onServerRunning: accounts.serverRuns(on:)
            )
            // snippet end
            try await withApplication { _, listening in
                var served = application
                served.configuration.address = .hostname("127.0.0.1", port: 0)
                Task { if let url = try? await accounts.address.get() { listening(url.port ?? 0) } }
                return served
            } _: { url in
                let json = ["Content-Type: application/json"]
                let registered = try await RawHTTP.send(
                    "POST",
                    "/api/auth/register",
                    to: url,
                    headers: json,
                    body: Array(#"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#.utf8)
                )
                #expect(registered.status == 201)
                let signedIn = try await RawHTTP.send(
                    "POST",
                    "/api/auth/login",
                    to: url,
                    headers: json,
                    body: Array(#"{"email":"ana@example.com","password":"correct horse battery"}"#.utf8)
                )
                let token = try signedIn.json()["access_token"]?.stringValue ?? ""
                let hello = try await RawHTTP.send("GET", "/hello", to: url, headers: ["Authorization: Bearer \(token)"])
                #expect(hello.text == "Hello, Ana")
            }
        }
    }
}
