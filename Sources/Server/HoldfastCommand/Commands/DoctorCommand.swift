import AccountServer
import ArgumentParser
import ErrorContract
import Foundation
import StrictJSON

/// `holdfast doctor`: checks everything that the server needs.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything that the server needs, and report what to fix.",
        discussion: """
            Checks the settings, the data folder and its permissions, the free space of the disk, the database (with PostgreSQL also its
            settings, standbys, connections and the clocks of all servers), Valkey (version, eviction, memory, persistence), the rate
            limits, trusted proxies, the SMTP server (connection, TLS, login; no email is sent), the domain of links, and the clock. The
            command changes nothing. It can run while a server is running. Each network check takes at most 8 seconds.

              holdfast doctor --data /var/lib/holdfast

            Exit codes: 0 no errors, 1 something is wrong, 64 invalid usage, 78 invalid configuration.
            """
    )

    @OptionGroup var data: DataOptions

    @Flag(help: "Print JSON.")
    var json = false

    /// Runs all checks and prints their findings.
    /// - Throws: `ExitCode` 78 if the settings are invalid; 1 if a check finds an error.
    func run() async throws {
        var configuration = AccountServerConfiguration(dataFolder: data.folder)
        do {
            try configuration.readEnvironment()
        } catch let error as InvalidConfiguration {
            report(error.problems.map { .wrong("configuration", $0.setting, $0.text) })
            throw ExitCode.badConfiguration
        } catch {
            throw Terminal.failure("The settings can't be read: \(error)", .badConfiguration)
        }
        let findings = await Doctor(configuration: configuration).examine()
        report(findings)
        if findings.contains(where: { $0.verdict == .wrong }) { throw ExitCode.failure }
    }

    /// Prints findings as text or as JSON.
    private func report(_ findings: [Finding]) {
        let isGood = !findings.contains { $0.verdict == .wrong }
        if json {
            let report: JSONValue = ["good": .bool(isGood), "findings": .array(findings.map(\.json))]
            return Terminal.say(String(decoding: report.encoded(), as: UTF8.self))
        }
        let style = TextStyle(isColored: Terminal.isColored, secret: nil)
        for line in findings.flatMap({ $0.lines(style) }) { Terminal.say(line) }
    }
}
