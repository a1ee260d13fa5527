import AccountContract
import AccountCore
import AccountRoutes
import AccountServer
import CoreMetrics
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Synchronization

@testable import ServerMiddleware

/// The request context of the target.
private struct FuzzContext: LimitedRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?
    let limits = RequestLimits()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// Reads the bytes of a connection: the parser, the handlers of the engine, and a whole server without its sockets.
struct HTTPTarget: FuzzTarget {
    private let responder: any HTTPResponder<FuzzContext>

    init(folder: URL) throws {
        let data = folder.appending(path: "data-\(UUID().uuidString)")
        // Not on the loopback: the error lab responds with errors on purpose.
        var settings = AccountServerConfiguration(host: "0.0.0.0", port: 0, dataFolder: data)
        settings.environment = .development
        settings.resetBaseURL = URL(string: "https://accounts.example.com")
        for limit in AccountLimit.allCases { settings.limits.policies[limit] = nil }
        let configuration = settings
        responder = try waiting {
            let server = try await AccountServer(
                configuration,
                logger: .silent,
                metrics: NOOPMetricsHandler.instance,
                hashing: PlainHashing()
            )
            let router = ContractRouter(
                context: FuzzContext.self,
                renderer: server.renderer,
                deadline: configuration.requestDeadline,
                outermost: [
                    TraceContextMiddleware(), AccessLogMiddleware(), RequestMetricsMiddleware(metrics: server.metrics),
                    SecurityHeadersMiddleware(server.securityHeaders), RateLimitFieldsMiddleware(),
                ]
            )
            let health = server.healthRoutes(FuzzContext.self)
            health.addLive(to: router)
            health.addReady(to: router)
            MetricsRoute(access: .bearer("0123456789abcdef0123456789abcdef")) { "" }.add(to: router)
            try server.addAccountRoutes(to: router)
            return router.buildResponder()
        }
    }

    func check(_ input: [UInt8]) throws {
        // The result does not depend on how the bytes are split.
        let step = max(1, input.count / 7)
        let pieces = stride(from: 0, to: input.count, by: step).map { input[$0..<min($0 + step, input.count)] }
        try require(try statuses(pieces) == statuses([input[...]]), "the pieces of a connection are read as another request")

        let requests = Mutex<[Connection.Message]>([])
        let bytes = try Connection.exchange([input[...]]) { message in
            requests.withLock { $0.append(message) }
            return try waiting { [responder] in try await responder.reply(to: message) }
        }
        let sent = requests.withLock { $0 }
        let responses = try ResponseReader.read(bytes, methods: sent.map(\.head.method))
        try require((sent.count...sent.count + 1).contains(responses.count), "\(responses.count) responses to \(sent.count)")
        for (index, response) in responses.enumerated() {
            try check(response, request: index < sent.count ? sent[index] : nil)
        }
    }

    /// Returns the requests that the engine passes on, each with the response 200, and the statuses of all responses.
    private func statuses(_ pieces: [ArraySlice<UInt8>]) throws -> ([Connection.Message], [Int]) {
        let requests = Mutex<[Connection.Message]>([])
        let bytes = try Connection.exchange(pieces) { message in
            requests.withLock { $0.append(message) }
            return .init(status: .ok, body: [])
        }
        let sent = requests.withLock { $0 }
        return (sent, try ResponseReader.read(bytes, methods: sent.map(\.head.method)).map(\.status))
    }

    private func check(_ response: ResponseReader.Response, request: Connection.Message?) throws {
        let place = "\(response.status) to \(request.map { "\($0.head.method) \($0.head.path ?? "")" } ?? "bytes")"
        guard response.status >= 400 else { return }
        let code = response.headers[.errorCode]
        // An HTML page describes its error in text and has no code.
        if code == nil, response.headers[.contentType]?.hasPrefix("text/html") == true { return }
        let definition = code.flatMap { ErrorCatalogue.standard[ErrorCode($0)] }
        try require(definition != nil, "\(place) without a code of the contract")
        try require(definition?.status == response.status, "\(place) with the code of another status")
        // No request can cause a server error, except that it may set a deadline that is too short.
        let isOwnDeadline = response.status == 504 && request?.head.headerFields[.requestTimeout] != nil
        try require(response.status < 500 || isOwnDeadline, "\(place) is the server's fault")
        if request == nil {
            try require(response.headers[.connection] == "close", "\(place) leaves the connection open")
        }
        guard request?.head.method != .head, response.headers[.contentType]?.hasPrefix("text/html") != true else { return }
        let decoded = ErrorDecoder().decode(
            status: response.status,
            headers: response.headers,
            body: response.body,
            now: Date(timeIntervalSince1970: 1_762_252_200)
        )
        try require(decoded.code?.rawValue == code, "\(place) has another code in its body")
    }
}

/// A connection without a socket, with the handlers of the server's engine.
private final class Connection: ChannelInboundHandler {
    struct Message: Hashable, Sendable {
        let head: HTTPRequest
        let body: [UInt8]
    }

    struct Reply: Sendable {
        var status: HTTPResponse.Status
        var headers = HTTPFields()
        var body: [UInt8]
    }

    typealias Responder = @Sendable (Message) throws -> Reply
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let responder: Responder
    private var head: HTTPRequest?
    private var body: [UInt8] = []
    private var isClosed = false
    private var failure: (any Error)?

    private init(_ responder: @escaping Responder) { self.responder = responder }

    private static let engine = EventLoopHTTP1Channel(
        responder: { _, _, _ in },
        configuration: .init(),
        connections: Connections(),
        renderer: ContractErrorRenderer(),
        securityHeaders: SecurityHeaders(isStrictTransport: true)
    )

    /// The bytes that the server sends on a connection on which these pieces arrive.
    static func exchange(_ pieces: [ArraySlice<UInt8>], _ responder: @escaping Responder) throws -> [UInt8] {
        let channel = EmbeddedChannel()
        let connection = Connection(responder)
        try Self.engine.addHandlers(to: channel.pipeline.syncOperations)
        try channel.pipeline.syncOperations.addHandler(connection)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for piece in pieces where channel.isActive { _ = try? channel.writeInbound(ByteBuffer(bytes: piece)) }
        var sent: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { sent += Array(buffer.readableBytesView) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        if let failure = connection.failure { throw failure }
        return sent
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosed else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let buffer): body += Array(buffer.readableBytesView)
        case .end:
            guard let head else { return }
            self.head = nil
            do {
                send(try responder(Message(head: head, body: body)), context)
            } catch {
                failure = error
                isClosed = true
            }
            // As the engine does.
            if head.headerFields[.connection] == "close" { isClosed = true }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isClosed else { return }
        isClosed = true
        guard error is HTTPParserError else { return }
        // As the engine does.
        send(Reply(status: .badRequest, headers: [.connection: "close", .contentLength: "0"], body: []), context)
    }

    private func send(_ reply: Reply, _ context: ChannelHandlerContext) {
        var head = HTTPResponse(status: reply.status, headerFields: reply.headers)
        if head.headerFields[.contentLength] == nil, head.headerFields[.transferEncoding] == nil {
            head.headerFields[.contentLength] = "\(reply.body.count)"
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !reply.body.isEmpty {
            context.write(wrapOutboundOut(.body(context.channel.allocator.buffer(bytes: reply.body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

extension HTTPResponder where Context == FuzzContext {
    /// The response of the routes to a request.
    fileprivate func reply(to message: Connection.Message) async throws -> Connection.Reply {
        let channel = NIOAsyncTestingChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 40_000)
        let context = FuzzContext(source: ApplicationRequestContextSource(channel: channel, logger: .silent))
        let request = Request(head: message.head, body: RequestBody(buffer: ByteBuffer(bytes: message.body)))
        let response = try await respond(to: request, context: context)
        let writer = BodyCollector()
        if message.head.method != .head { try await response.body.write(writer) }
        // An open channel and its handlers retain each other.
        _ = try? await channel.finish(acceptAlreadyClosed: true)
        return Connection.Reply(status: response.status, headers: response.headers, body: writer.bytes.withLock { $0 })
    }
}

private final class BodyCollector: ResponseBodyWriter {
    let bytes = Mutex<[UInt8]>([])

    func write(_ buffer: ByteBuffer) async throws { bytes.withLock { $0 += Array(buffer.readableBytesView) } }
    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Parses the bytes of a server as strictly as a client may.
private enum ResponseReader {
    struct Response {
        var status: Int
        var headers = HTTPFields()
        var body: [UInt8] = []
    }

    static func read(_ bytes: [UInt8], methods: [HTTPRequest.Method]) throws -> [Response] {
        var rest = bytes[...]
        var methods = methods[...]
        var responses: [Response] = []
        while !rest.isEmpty {
            var response = try head(&rest)
            guard response.status != 100 else { continue }
            let method = methods.popFirst()
            if method != .head, ![204, 304].contains(response.status) {
                let length = response.headers[.contentLength].flatMap { Int($0) } ?? 0
                try require(rest.count >= length, "a body of \(rest.count) bytes instead of \(length)")
                response.body = Array(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            responses.append(response)
        }
        return responses
    }

    private static func head(_ rest: inout ArraySlice<UInt8>) throws -> Response {
        let lines = try lines(&rest)
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", let status = Int(words[1]) else {
            throw Finding(description: "no status line: \(lines[0])")
        }
        var response = Response(status: status)
        for line in lines.dropFirst() {
            guard let field = HTTPField(line: Array(line.utf8)[...]) else { throw Finding(description: "no field: \(line)") }
            response.headers.append(HTTPField(name: field.name, value: field.value.trimmingCharacters(in: .whitespaces)))
        }
        return response
    }

    private static func lines(_ rest: inout ArraySlice<UInt8>) throws -> [String] {
        var lines: [String] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
            guard rest.index(after: end) < rest.endIndex, rest[end + 1] == UInt8(ascii: "\n") else {
                throw Finding(description: "a return without a newline in a head")
            }
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 2)...]
            if line.isEmpty { return lines }
            lines.append(line)
        }
        throw Finding(description: "a head without an end")
    }
}

/// Hashing that takes no time.
private struct PlainHashing: PasswordHashing {
    func hash(_ password: String) throws -> String { "plain:\(password)" }
    func verify(_ password: String, against hash: String) -> Bool { hash == "plain:\(password)" }
    func needsRehash(_ hash: String) -> Bool { false }
}

extension Logger {
    fileprivate static var silent: Logger { Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() } }
}
