import AccountContract
import AccountCore
import AccountRoutes
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ServerMiddleware
import Synchronization

@testable import AccountServer
@testable import HoldfastCommand

/// A whole server without a socket: requests go to its router, and emails are captured. For tests with very many requests.
struct MemoryServer: Sendable {
    let server: HoldfastServer
    let post: CaughtMail
    private let responder: any HTTPResponder<HoldfastContext>
    private let channel: NIOAsyncTestingChannel

    init(
        _ configuration: AccountServerConfiguration,
        hashing: any PasswordHashing = ReadableHashing(),
        time: ServerTime = .system
    ) async throws {
        server = try await HoldfastServer(configuration: configuration, logger: Self.silent, hashing: hashing, time: time)
        responder = try server.router().buildResponder()
        channel = NIOAsyncTestingChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 40_000)
        post = CaughtMail()
    }

    private static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    /// Returns the response to a request.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String = "",
        type: String = "application/json",
        headers: [String: String] = [:]
    ) async throws -> (status: Int, text: String) {
        var fields: HTTPFields = [.contentType: type]
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let head = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1", path: path, headerFields: fields)
        let context = HoldfastContext(source: ApplicationRequestContextSource(channel: channel, logger: Self.silent))
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let response = try await responder.respond(to: request, context: context)
        let collector = BodyWriter()
        try await response.body.write(collector)
        return (response.status.code, collector.text)
    }

    /// Renders the due emails, and captures them.
    func deliver() async throws {
        let worker = MailWorker(
            stores: server.accounts.stores,
            rendering: post,
            delivery: post,
            rules: server.accounts.configuration.recoveryRules,
            clock: ContinuousClock(),
            now: { Date() },
            logger: Self.silent
        )
        while try await worker.processDue() > 0 {}
    }
}

/// Captures emails with the tokens in them.
final class CaughtMail: MailRendering, MailDelivery {
    /// A delivered email.
    struct Letter: Hashable, Sendable {
        let kind: MailKind
        let recipient: String
        let token: String

        /// Whether the email has a reset link.
        var isReset: Bool { kind == .passwordReset }
    }

    private let letters = Mutex<[Letter]>([])

    /// Returns the emails that were delivered since the last call.
    func take() -> [Letter] {
        letters.withLock { letters in
            defer { letters = [] }
            return letters
        }
    }

    func mail(_ content: MailContent) -> Mail {
        Mail(
            sender: "",
            recipient: content.recipient,
            subject: content.kind.rawValue,
            text: content.token.rawValue,
            html: "",
            language: .english
        )
    }

    func deliver(_ mail: Mail) async throws {
        guard let kind = MailKind(rawValue: mail.subject) else { return }
        letters.withLock { $0.append(Letter(kind: kind, recipient: mail.recipient.text, token: mail.text)) }
    }
}

/// Password hashing that takes no time, and lets a test read the password of an account.
struct ReadableHashing: PasswordHashing {
    func hash(_ password: String) throws -> String { "readable:\(password)" }
    func verify(_ password: String, against hash: String) -> Bool { hash == "readable:\(password)" }
    func needsRehash(_ hash: String) -> Bool { false }
}

private final class BodyWriter: ResponseBodyWriter {
    private let bytes = Mutex<[UInt8]>([])
    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func write(_ buffer: ByteBuffer) async throws { bytes.withLock { $0 += Array(buffer.readableBytesView) } }
    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Runs a server without a socket, with a new data folder, for the duration of a closure.
func withMemoryServer<Result>(
    time: ServerTime = .system,
    _ configure: (inout AccountServerConfiguration) -> Void = { _ in },
    _ body: (MemoryServer) async throws -> Result
) async throws -> Result {
    // With very many requests commits should not reach the disk, if the system has a folder in memory.
    let memory = URL(filePath: "/dev/shm")
    let parent = FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    let folder = parent.appending(path: "holdfast-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = AccountServerConfiguration(port: 0, dataFolder: folder)
    configuration.environment = .development
    configuration.limits.memory = TestStores.limitMemory << 20
    for limit in AccountLimit.allCases { configuration.limits.policies[limit] = nil }
    configuration.resetEmailLimit = nil
    // A test with a million requests may suspend the process meanwhile.
    configuration.requestDeadline = RequestDeadline(.seconds(86_400))
    configure(&configuration)
    return try await body(try await MemoryServer(configuration, time: time))
}
