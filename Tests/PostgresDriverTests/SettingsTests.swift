import PostgresDriver
import Testing

@Suite struct SettingsTests {
    @Test("Reads a URL with several hosts, a login and parameters")
    func whole() throws {
        let settings = try PostgresSettings(
            url:
                "postgres://a%40b:p%3Aw%2F@h1:5433,[::1]:5434,h3/db%20x?sslmode=require&application_name=a%26b&pool_max=7&pool_min=2"
        )
        #expect(settings.hosts == [.init(name: "h1", port: 5433), .init(name: "::1", port: 5434), .init(name: "h3")])
        #expect(settings.user == "a@b" && settings.hasPassword && settings.database == "db x")
        #expect(settings.tlsMode == .require && settings.applicationName == "a&b")
        #expect(settings.maximum == 7 && settings.minimum == 2 && settings.requiresPrimary)
    }

    @Test(
        "Accepts a Unix socket as a host or as a parameter",
        arguments: ["postgresql://app@%2Ftmp%2Fx/db", "postgres:///db?host=/tmp/x", "postgres://app@/db?host=%2Ftmp%2Fx"]
    )
    func unixSocket(url: String) throws {
        let settings = try PostgresSettings(url: url, requiresVerifiedTLS: true)
        #expect(settings.hosts == [.init(name: "/tmp/x")] && settings.database == "db" && settings.tlsMode == .prefer)
        #expect(!settings.requiresPrimary)
    }

    @Test(
        "Verifies certificates in production, unless URL or host makes it unnecessary",
        arguments: [
            ("postgres://db/x", PostgresSettings.TLSMode.verifyFull), ("postgres://db/x?sslmode=disable", .disable),
            ("postgres://127.0.0.1/x", .prefer), ("postgres://localhost,db2/x", .verifyFull),
        ]
    )
    func production(url: String, mode: PostgresSettings.TLSMode) throws {
        #expect(try PostgresSettings(url: url, requiresVerifiedTLS: true).tlsMode == mode)
    }

    @Test(
        "Refuses an invalid URL, and shows only the name of a parameter of it",
        arguments: [
            ("mysql://u:hunter2@h/db", "the URL must begin with postgres://"),
            ("postgres://u:hunter2@h/db?speed=9", "the URL has the unknown parameter speed"),
            ("postgres://u:hunter2@h/db?sslmode=hunter2", "the parameter sslmode has no such value"),
            ("postgres://u:p?hunter2@h/db", "a host of the URL is invalid"),
            ("postgres://u?hunter2@h/db=3", "the URL has an invalid parameter"),
            ("postgres://u:hunter2%ZZ@h/db", "the URL has an invalid percent-encoding (password)"),
            ("postgres://u:hunter2@h:99999/db", "a host of the URL is invalid"),
            ("postgres://u:hunter2@/db", "the URL has no host"),
            ("postgres://u:hunter2@h,/db", "a host of the URL is invalid"),
            ("postgres://u:hunter2@h/db?pool_max=65", "the parameter pool_max must be from 1 to 64"),
            ("postgres://u:hunter2@h/db?pool_max=2&pool_min=3", "pool_max must be from 1 to 64, and pool_min at most pool_max"),
            ("postgres://u:hunter2@h/db?host=/tmp", "the URL has hosts and the parameter host"),
            ("postgres://u:hunter2@h/db?pool_max=2&pool_max=3", "the URL has the parameter pool_max twice"),
        ]
    )
    func refusals(url: String, message: String) {
        let error = #expect(throws: PostgresURLError.self) { _ = try PostgresSettings(url: url) }
        #expect(error?.description == message)
    }

    @Test("Shows no password")
    func password() throws {
        let settings = try PostgresSettings(url: "postgres://user:hunter2@h/db")
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!"\(settings) \(String(reflecting: settings)) \(dumped)".contains("hunter2"))
    }
}
