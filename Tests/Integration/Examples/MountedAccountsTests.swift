import AccountContract
import AccountRoutes
import AccountServer
import ErrorContract
import Foundation
import Hummingbird
import NIOCore
import RateLimiting
import ServerMiddleware
import StrictJSON
import Testing

/// The context of an app that has no requirement of Holdfast but the address of the connection.
private struct AppContext: RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// An ``AccountServer`` within an app that has its own routes.
@Suite struct MountedAccountsTests {
    private static let registration = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#

    /// - Parameter path: The path of the group in which the account routes are mounted.
    private func withApp(
        at path: String = "",
        _ configure: (inout AccountServerConfiguration) -> Void = { _ in },
        _ body: (URL) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            var settings = configuration(in: folder)
            configure(&settings)
            try await withApp(settings, at: path, body)
        }
    }

    private func configuration(in folder: URL) -> AccountServerConfiguration {
        var settings = AccountServerConfiguration(dataFolder: folder.appending(path: "data"))
        settings.environment = .development
        settings.port = 0
        return settings
    }

    private func withApp(
        _ configuration: AccountServerConfiguration,
        at path: String = "",
        _ body: (URL) async throws -> Void
    ) async throws {
        try await withApplication { logger, listening in
            let accounts = try await AccountServer(configuration, logger: logger)
            let router = Router(context: AppContext.self)
            try accounts.addRoutes(to: router.group(RouterPath(path)))
            router.get("/hello") { request, _ in "Hello, \(try await accounts.user(of: request).firstName)" }
            let application = Application(
                router: router,
                configuration: .init(address: .hostname("127.0.0.1", port: configuration.port)),
                services: accounts.services,
                onServerRunning: accounts.serverRuns(on:),
                logger: logger
            )
            Task { if let url = try? await accounts.address.get() { listening(url.port ?? 0) } }
            return application
        } _: { url in
            try await body(url)
        }
    }

    private func post(_ path: String, _ json: String, to url: URL) async throws -> RawHTTP.Answer {
        try await RawHTTP.send("POST", path, to: url, headers: ["Content-Type: application/json"], body: Array(json.utf8))
    }

    @Test("A mounted server registers and signs in a user for the app's own route")
    func session() async throws {
        try await withApp { url in
            let registered = try await post("/api/auth/register", Self.registration, to: url)
            #expect(registered.status == 201)
            #expect(registered["X-Request-Id"] != nil && registered["X-Content-Type-Options"] == "nosniff")
            #expect(registered["RateLimit"]?.contains("register-ip") == true)
            let login = #"{"email":"ana@example.com","password":"correct horse battery"}"#
            let signedIn = try await post("/api/auth/login", login, to: url)
            #expect(signedIn.status == 200)
            let token = try signedIn.json()["access_token"]?.stringValue ?? ""
            let hello = try await RawHTTP.send("GET", "/hello", to: url, headers: ["Authorization: Bearer \(token)"])
            #expect(hello.status == 200 && hello.text == "Hello, Ana")
            #expect(hello["X-Content-Type-Options"] == nil && hello["RateLimit"] == nil)
            let anonymous = try await RawHTTP.send("GET", "/hello", to: url)
            #expect(anonymous.status == 401 && anonymous["X-Error-Code"] == "AUTH_TOKEN_MISSING")
        }
    }

    @Test("Mounted routes send contract errors; unknown paths are the app's responsibility")
    func errors() async throws {
        try await withApp { url in
            let invalid = try await RawHTTP.send(
                "POST",
                "/api/auth/register",
                to: url,
                headers: ["Content-Type: application/json", "X-Request-Id: abc"],
                body: Array(#"{"email":7}"#.utf8)
            )
            #expect(invalid.status == 400 && invalid["X-Error-Code"] != nil && invalid["X-Request-Id"] == "abc")
            let unknown = try await RawHTTP.send("GET", "/nothing", to: url)
            #expect(unknown.status == 404 && unknown["X-Error-Code"] == nil)
            #expect(try await RawHTTP.send("GET", "/reset-password", to: url).status == 200)
            #expect(try await RawHTTP.send("GET", "/dev/mailbox", to: url).status == 200)
        }
    }

    @Test("Describes only routes that the mounted server serves")
    func description() async throws {
        try await withApp {
            $0.metricsToken = HiddenText(text: String(repeating: "t", count: 32))
        } _: { url in
            let document = try await RawHTTP.send("GET", "/openapi.json", to: url).json()
            let paths = try #require(document["paths"]?.objectValue)
            #expect(paths["/api/auth/login"] != nil && paths["/dev/mailbox"] != nil)
            for (path, methods) in paths.members {
                for (method, _) in methods.objectValue?.members ?? [] {
                    let answer = try await RawHTTP.send(method.uppercased(), path.replacing(/\{[a-z]+\}/, with: "1"), to: url)
                    // The router of the app adds no id to its responses to unknown paths.
                    #expect(answer["X-Request-Id"] != nil, "\(method) \(path)")
                }
            }
        }
    }

    @Test("Errors of the route for older apps keep their form in a group with a path")
    func groupPath() async throws {
        try await withApp(at: "/accounts") {
            $0.resetBaseURL = URL(string: "http://127.0.0.1/accounts")
        } _: { url in
            let legacy = try await post("/accounts/reset_password/", "{", to: url)
            #expect(legacy.status == 400)
            #expect(try legacy.json()["error_code"] == .integer(400), "\(legacy.text)")
            let present = try await post("/accounts/api/auth/register", "{", to: url)
            #expect(present.status == 400)
            #expect(try present.json()["error_code"] == nil, "\(present.text)")
        }
    }

    @Test("Refuses a second server on one data folder until the first has shut down")
    func secondServer() async throws {
        try await withFolder { folder in
            let configuration = configuration(in: folder)
            for _ in 0..<2 {
                try await withApp(configuration) { _ in
                    await #expect(throws: DataFolderInUse.self) { try await AccountServer(configuration) }
                }
            }
        }
    }

    @Test("Shares a data folder only with servers that also share it")
    func sharedFolder() async throws {
        try await withFolder { folder in
            let alone = configuration(in: folder)
            var shared = alone
            shared.sharesDataFolder = true
            let other = try DataFolderLock(DataFolder(alone.dataFolder), isShared: true)
            await #expect(throws: DataFolderInUse.self) { try await AccountServer(alone) }
            _ = try await AccountServer(shared)
            withExtendedLifetime(other) {}
        }
    }

    @Test("Mounted routes limit each client by its connection's address")
    func limits() async throws {
        try await withApp {
            $0.limits.policies[.registerIP] = AccountLimit.registerIP.policy(1, perSeconds: 3_600)
        } _: { url in
            #expect(try await post("/api/auth/register", Self.registration, to: url).status == 201)
            let other = Self.registration.replacing("ana@", with: "eva@")
            let refused = try await post("/api/auth/register", other, to: url)
            #expect(refused.status == 429 && refused["X-Error-Code"] == "RATE_LIMIT_EXCEEDED" && refused["Retry-After"] != nil)
        }
    }
}
