import Configuration
import Foundation
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct EnvironmentFileTests {
    @Test("The settings that a page shows for .env are valid", arguments: ["mail", "migrating"])
    func documented(page: String) throws {
        let text = try String(contentsOf: Repository.root.appending(path: "docs/operations/\(page).md"), encoding: .utf8)
        let blocks = text.matches(of: /```env\n(.*?)```/.dotMatchesNewlines()).map { String($0.1) }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let values = try EnvironmentFile(Data(block.utf8)).values
            #expect(values.count == block.split(separator: "\n").count)
            // A second setting or a comment on a line would be a part of the value.
            #expect(values.values.allSatisfy { !$0.contains("=") && !$0.contains("#") })
            var configuration = AccountServerConfiguration(dataFolder: URL(fileURLWithPath: "/nonexistent"))
            try configuration.read(
                ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: values)),
                names: Set(values.keys),
                isServing: false
            )
        }
    }

    @Test(
        "Reads settings in the common notations of every system",
        arguments: [
            ("A=1\nB=2", ["A": "1", "B": "2"]), ("A=1\r\nB=2\r\n", ["A": "1", "B": "2"]), ("\u{FEFF}A=1", ["A": "1"]),
            (#"A="a b""#, ["A": "a b"]), ("A='a\"b'", ["A": "a\"b"]), ("A=a\"b", ["A": "a\"b"]), ("export A=1", ["A": "1"]),
            ("# a comment\n\n  A = 1  \n", ["A": "1"]), ("A=", ["A": ""]), ("A=\"\"", ["A": ""]), ("A=1=2#3", ["A": "1=2#3"]),
            ("A=1\nA=2", ["A": "2"]), ("A=Ñandú 🔑", ["A": "Ñandú 🔑"]), ("", [:]), ("\r\n\r\n", [:]),
            ("exportA=1", ["exportA": "1"]),
            ("A=$B", ["A": "$B"]),
        ]
    )
    func readings(_ text: String, _ values: [String: String]) throws {
        #expect(try EnvironmentFile(Data(text.utf8)).values == values)
    }

    @Test(
        "Reports an invalid line by its number, without quoting it",
        arguments: [
            "hunter2", "A hunter2", "=hunter2", "1A=hunter2", "A-B=hunter2", "A=\"hunter2", "A='hunter2\"", "A=\"",
            "A=hunter2\u{0}",
            "A=hunter2\rB=1", "A=hunter2\u{B}", "export hunter2", "A\u{85}=hunter2",
        ]
    )
    func refusals(_ line: String) {
        let error = #expect(throws: InvalidConfiguration.self) { try EnvironmentFile(Data("X=1\n\n\(line)\nY=2".utf8)) }
        #expect(error?.problems.map(\.setting) == [".env line 3"])
        #expect(error.map { !"\($0)".contains("hunter2") } == true)
    }

    @Test("Reports invalid UTF-8 by its line")
    func noText() {
        let error = #expect(throws: InvalidConfiguration.self) { try EnvironmentFile(Data([65, 61, 49, 10, 66, 61, 0xFF, 10])) }
        #expect(error?.problems.map(\.setting) == [".env line 2"])
    }

    @Test("Refuses or reads garbage, and never crashes")
    func garbage() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("A=\"'#\r\n \t\u{0}$é".utf8) + [0xFF, 0xEF, 0xBB, 0xBF]
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 65
            }
            if let values = try? EnvironmentFile(Data(bytes)).values {
                for (name, value) in values {
                    #expect(name.utf8.allSatisfy { $0 == 65 })
                    #expect(value.unicodeScalars.allSatisfy { $0 == "\t" || $0.properties.generalCategory != .control })
                }
            }
        }
    }

    @Test("Windows line endings separate settings and expose no secret")
    func windows() async throws {
        try await withFolder { folder in
            let text = [
                "APP_NAME=Crowns", "PASSWORD_RESET_BASE_URL=https://accounts.example.com",
                "METRICS_TOKEN=0123456789abcdef0123456789abcdef",
                "HOLDFAST_SECRET=hunter2-hunter2-hunter2-hunter2-hunter2", "LIMIT_LOGIN_IP=1/60", "",
            ].joined(separator: "\r\n")
            try Data(text.utf8).write(to: folder.appending(path: ".env"))
            try await withServing(environment: [:], options: ["--create"], in: folder) { url in
                for path in ["/reset-password", "/openapi.json"] {
                    let response = try await RawHTTP.send("GET", path, to: url)
                    #expect(response.status == 200 && response.text.contains("Crowns"))
                    #expect(!response.text.contains("hunter2") && !response.text.contains("HOLDFAST_SECRET"))
                }
                let body = Array(#"{"email":"ana@example.com","password":"correct horse battery"}"#.utf8)
                let json = ["Content-Type: application/json"]
                let statuses = [
                    try await RawHTTP.send("POST", "/api/auth/login", to: url, headers: json, body: body).status,
                    try await RawHTTP.send("POST", "/api/auth/login", to: url, headers: json, body: body).status,
                ]
                #expect(statuses == [401, 429], "the limit is in force")
            }
        }
    }

    @Test("Refuses merged lines and an unknown limit without quoting them")
    func refused() async throws {
        try await withFolder { folder in
            try Data("LIMIT_LOGN_IP=1/60\n".utf8).write(to: folder.appending(path: ".env"))
            let environment = [
                "ENVIRONMENT": "development", "APP_NAME": "Crowns\nHOLDFAST_SECRET=hunter2", "LIMIT_LOGOUT": "1/1",
                "PASSWORD_RESET_BASE_URL": "https://a.example.com\r\nEMAIL_HOST_PASSWORD=hunter2",
            ]
            let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
            #expect(run.status == 78)
            for name in ["APP_NAME", "PASSWORD_RESET_BASE_URL", "LIMIT_LOGN_IP", "LIMIT_LOGOUT"] {
                #expect(run.errors.contains("  \(name) "))
            }
            #expect(!run.errors.contains("hunter2"))
        }
    }
}
