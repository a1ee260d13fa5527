import AccountContract
import AccountCore
import AccountImport
import AccountRoutes
import AppLinks
import ClientMetrics
import CoreMetrics
import Email
import ErrorContract
import Foundation
import HoldfastAsyncHTTPClient
import HoldfastTesting
import Hummingbird
import Idempotency
import Logging
import Observability
import OpenAPI
import Pages
import PasswordHashes
import ResilientHTTP
import SQLiteStores
import ServerMiddleware
import StrictJSON
import TestSupport
import Testing

/// Runs the examples of "Getting started" of each library for servers, which the catalogs `*.docc` show.
@Suite struct ServerGuideTests {
    @Test("AccountCore: reports why a password is refused")
    func accountCore() throws {
        // snippet: start-account-core
        let policy = PasswordPolicy(minimumLength: 10)
        let weaknesses = policy.weaknesses(
            of: try Password("password"),
            email: try EmailAddress("ana@example.com"),
            firstName: nil
        )
        for weakness in weaknesses { print(weakness.name) }
        // snippet end
        #expect(!weaknesses.isEmpty)
    }

    @Test("AccountRoutes: adds the health routes")
    func accountRoutes() {
        // snippet: start-account-routes
        let router = Router(context: BasicRequestContext.self)
        let readiness = Readiness(checks: [
            .init("disk") { _ = try FileManager.default.attributesOfFileSystem(forPath: "/") }
        ])
        let health = HealthRoutes<BasicRequestContext>(readiness)
        health.addLive(to: router)
        health.addReady(to: router)
        // snippet end
        #expect(router.routes.count == 2)
    }

    @Test("AccountImport: imports accounts into a store, and SQLiteStores finds them")
    func accountImport() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "users.jsonl")
        try Data(#"{"email":"ana@example.com","first_name":"Ana"}"#.utf8).write(to: file)
        // snippet: start-sqlite-stores
        let database = try SQLiteDatabase(path: folder.appending(path: "holdfast.sqlite3").path)
        let accounts = SQLiteAccountRepository(database)
        let account = try await accounts.account(email: EmailAddress("ana@example.com"))
        print(account?.firstName.rawValue ?? "There is no such account")
        // snippet end
        #expect(account == nil)
        // snippet: start-account-import
        let users = AccountImport(into: accounts, language: .english) { Date() }
        let progress = try await users.run(ImportFile.read(file)) { place, reason in
            print("\(place): \(reason)")
        } report: { progress in
            print("\(progress.done) of \(progress.total)")
        }
        print("\(progress.added) accounts were added")
        // snippet end
        #expect(progress.added == 1)
        #expect(try await accounts.account(email: EmailAddress("ana@example.com"))?.firstName.rawValue == "Ana")
    }

    @Test("Email: delivers an email to the local mailbox")
    func email() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-guide-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // snippet: start-email
        let mailbox = try MailboxFolder(directory: folder) { Date() }
        try await mailbox.deliver(
            Mail(
                sender: "Notes <no-reply@example.com>",
                recipient: EmailAddress("ana@example.com"),
                subject: "Welcome",
                text: "Welcome, Ana.",
                html: "<p>Welcome, Ana.</p>",
                language: .english
            )
        )
        for mail in try mailbox.mails() { print(mail.recipient, mail.subject) }
        // snippet end
        #expect(try mailbox.mails().map(\.subject) == ["Welcome"])
    }

    @Test("Pages: writes the reference of the error codes")
    func pages() throws {
        // snippet: start-pages
        let reference = ErrorReference(catalogue: .standard)
        let markdown = reference.markdown
        // snippet end
        #expect(markdown.contains("RATE_LIMIT_EXCEEDED"))
    }

    @Test("OpenAPI: writes the document of an account server")
    func openAPI() {
        // snippet: start-openapi
        let description = APIDescription(settings: APISettings(appName: "Notes", version: "1.0.0"))
        let document = OpenAPIDocument(description).json
        // snippet end
        #expect(document.objectValue?["openapi"]?.stringValue?.hasPrefix("3.1") == true)
    }

    @Test("PasswordHashes: verifies its own hashes and those of another system")
    func passwordHashes() throws {
        // snippet: start-password-hashes
        let argon2 = Argon2id(parameters: .init(memory: 8 * 1_024 * 1_024, passes: 1))
        let hash = try argon2.hash("correct horse battery")
        print(argon2.verify("correct horse battery", against: hash))
        let imported = try ImportedHash("$2b$04$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234")
        print(imported.verify("another password"))
        // snippet end
        #expect(argon2.verify("correct horse battery", against: hash))
        #expect(!argon2.verify("another password", against: hash))
        #expect(!imported.verify("another password"))
    }

    @Test("AppLinks: writes the association file of an app")
    func appLinks() throws {
        // snippet: start-app-links
        let app = try AppIdentifier("ABCDE12345.com.example.notes")
        let file = try AssociationFile(apps: [app])
        print(AssociationFile.path, AssociationFile.contentType, file.bytes.count)
        // snippet end
        #expect(String(decoding: file.bytes, as: UTF8.self).contains("ABCDE12345.com.example.notes"))
    }

    @Test("Observability: writes a line of JSON, and counts as text for Prometheus")
    func observability() {
        // snippet: start-observability
        let logger = Logger(label: "notes") { LineLogHandler(label: $0, format: .json) }
        logger.info("Server started", metadata: ["http.port": "8080"])
        let metrics = PrometheusMetrics(prefix: "notes_")
        Counter(label: "notes_added_total", factory: metrics).increment()
        print(metrics.text())
        // snippet end
        #expect(metrics.text().contains("notes_added_total 1"))
    }

    @Test("HoldfastAsyncHTTPClient: an API client over AsyncHTTPClient")
    func asyncHTTPClient() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        // snippet: start-async-http-client
        let api = APIClient(baseURL: url, transport: .asyncHTTPClient(), middleware: ClientPipeline.standard())
        do {
            _ = try await api.send(.get, "/api/notes")
        } catch {
            print(error.kind, error.code)
        }
        // snippet end
        #expect(api.baseURL == url)
    }

    @Test("Idempotency: reads the key of a request in both forms")
    func idempotency() throws {
        // snippet: start-idempotency
        let key = try IdempotencyKey(#""order-17""#)
        print(key.text)
        let store = MemoryIdempotencyStore(bounds: IdempotencyBounds(bytes: 64 << 20))
        print(store.count())
        // snippet end
        #expect(key == (try IdempotencyKey("order-17")))
        #expect(store.count() == 0)
    }

    @Test("ClientMetrics: counts the calls of a client")
    func clientMetrics() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        let transport = ScriptedTransport([.response(status: 200, body: "[]")])
        // snippet: start-client-metrics
        let metrics = PrometheusMetrics()
        var api = APIClient(baseURL: url, transport: transport)
        api.listeners = [MetricsListener(factory: metrics)]
        _ = try await api.send(.get, "/api/notes")
        print(metrics.text())
        // snippet end
        #expect(metrics.text().contains("http_client_calls"))
    }
}
