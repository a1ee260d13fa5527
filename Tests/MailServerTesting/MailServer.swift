package import Foundation
import Synchronization
import TestSupport

/// A mail server for a test: aiosmtpd in a separate process, on the loopback. `scripts/python-tools mail-tools` installs it.
///
/// The recipient's local part chooses a fault: see `smtp_server.py`.
package final class MailServer: Sendable {
    /// A failure after which the test can't continue.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// An email that the server accepted.
    package struct Received: Decodable, Sendable {
        package let sender: String
        package let recipients: [String]
        package let options: [String]
        package let helo: String
        package let peer: [Peer]
        package let tls: Bool
        package let login: String?
        /// The message as received.
        package var message = Data()
        /// The name of its file.
        package var file = ""

        private enum CodingKeys: String, CodingKey { case sender, recipients, options, helo, peer, tls, login }
    }

    /// A part of a socket's address.
    package enum Peer: Decodable, Hashable, Sendable {
        case host(String)
        case port(Int)

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = if let port = try? container.decode(Int.self) { .port(port) } else { .host(try container.decode(String.self)) }
        }
    }

    package let folder: URL
    /// The port that the server listens on, also after a restart.
    package let port: Int
    private let options: [String]
    private let process = Mutex<Process?>(nil)

    /// The file of the authority that issued its certificate.
    package var authorities: String { folder.appending(path: "ca.pem").path }

    private init(folder: URL, port: Int, options: [String]) {
        (self.folder, self.port, self.options) = (folder, port, options)
    }

    /// Runs a server for the duration of a closure.
    /// - Parameter options: Options of `smtp_server.py`.
    package static func run<Result>(_ options: [String] = [], _ body: (MailServer) async throws -> Result) async throws -> Result
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-smtp-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = MailServer(folder: folder, port: try freePort(), options: options)
        try await server.start()
        defer { server.kill() }
        return try await body(server)
    }

    /// Starts the server, again after ``stop()``.
    package func start() async throws {
        let process = Process()
        process.executableURL = try python(of: "mail-tools", from: "scripts/python-tools mail-tools")
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "smtp_server.py")
        process.arguments = [script.path, folder.path, "--port", "\(port)"] + options
        process.environment = ["PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe.make()
        process.standardOutput = output
        // Tests break off handshakes on purpose. The tracebacks of those would hide the actual errors.
        let errors = folder.appending(path: "errors")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data().write(to: errors)
        process.standardError = try FileHandle(forWritingTo: errors)
        let first = try await process.start(readingFirstLineOf: output)
        guard Int(first) == port else {
            let reason = try String(contentsOf: errors, encoding: .utf8)
            throw Failure(description: "the mail server did not start: \(first) \(reason)")
        }
        self.process.withLock { $0 = process }
    }

    /// Ends the server at once and waits until it is gone. Connections break, and new ones are refused.
    package func stop() async {
        guard let process = process.withLock({ $0 }) else { return }
        kill()
        _ = await process.ended()
    }

    private func kill() {
        process.withLock { process in
            if let id = process?.processIdentifier, process?.isRunning == true { _ = Glibc.kill(id, SIGKILL) }
            process = nil
        }
    }

    /// Returns the emails that the server has accepted, in order.
    /// - Parameter known: The files to skip. A listing may lack an email although it contains a later one.
    package func received(besides known: Set<String> = []) throws -> [Received] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".eml") && !$0.hasPrefix(".") && !known.contains($0) }
            .sorted()
            .map { name in
                let facts = folder.appending(path: name.replacing(".eml", with: ".json"))
                var mail = try JSONDecoder().decode(Received.self, from: Data(contentsOf: facts))
                mail.message = try Data(contentsOf: folder.appending(path: name))
                mail.file = name
                return mail
            }
    }

    /// Returns the commands that the server has received, as in its log.
    package func commands() throws -> [String] {
        try String(contentsOf: folder.appending(path: "log"), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Lets the server accept emails to `held@`.
    package func release() throws {
        try Data().write(to: folder.appending(path: "release"))
    }
}
