import ArgumentParser
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import OfflineQueue
import ResilientHTTP
import StrictJSON

/// `holdfast call`: calls any API like an app, and prints each step.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Call an API like an app, and report each step.",
        discussion: """
            Prints each attempt, each delay with its reason, and each call that the client itself refuses. Then prints the response as an \
            app reads it: code, message, problems of fields, request id, and the time of a retry. Safe requests are retried. A POST or \
            PATCH is only retried with --key, or if it was certainly not sent.

              holdfast call GET https://api.example.com/api/activities
              holdfast call POST https://api.example.com/api/orders --key random -d '{"item":7}'

            With --queue DIR, a POST, PUT, PATCH or DELETE is stored in the folder before it is sent. If there is no network, or if the \
            response is lost, the request stays in the folder. --drain sends the stored requests in order. Each request keeps its \
            idempotency key, so the server must support idempotency keys. A stored request has no token: it is later sent with a token of \
            the account that --account named.

              holdfast call --queue outbox POST https://api.example.com/api/orders -d '{"item":7}'
              holdfast call --queue outbox --drain

            Pass a token as HOLDFAST_TOKEN: other users of the machine can see the options of a command. The token is only sent to the \
            origin of the address, and is never printed. NO_COLOR turns colors off.

            Exit codes:
              0   the response was a success
              1   the server refused the request; with --drain: at least one request
              2   there was no response
              3   the outcome is unknown: the request was sent, the response was lost, and a retry is not safe
              4   the client itself refused the call, or the queue could not store it;
                  with --queue: requests are left in the queue because its journal could not be written;
                  with --drain: there is no queue in the folder
              5   the request is stored in the queue; with --drain: requests are left in the queue
              64  invalid usage
            """
    )

    @Argument(help: "The method: GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE.")
    var method: String?

    @Argument(help: "The address, with https:// or http://.")
    var url: String?

    @Option(name: [.customShort("H"), .long], help: "A header, as 'Name: value'; may be repeated.")
    var header: [String] = []

    @Option(name: .shortAndLong, help: "The body, or @FILE to read it from a file.")
    var data: String?

    @Option(help: "The Idempotency-Key, which makes a POST or PATCH safe to retry; 'random' creates one.")
    var key: String?

    @Option(help: "The access token; the default is HOLDFAST_TOKEN.")
    var token: String?

    @Option(help: "The deadline of the call in seconds, including delays.")
    var timeout: Double = 30

    @Option(help: "The largest number of retries.")
    var retries: Int = 3

    @Flag(help: "Print JSON: the events, then the result.")
    var json = false

    @Option(help: ArgumentHelp("The folder of an offline queue, which stores the request if it can't be sent.", valueName: "dir"))
    var queue: String?

    @Flag(help: "Send the stored requests of one server if its address is given; otherwise of all servers.")
    var drain = false

    @Option(help: "With --queue and a token: the account that the token belongs to.")
    var account: String?

    @Flag(help: "With --queue: send the requests of a folder that was copied or restored from a backup.")
    var adopt = false

    /// Validates the options before anything is sent. The method doesn't read the body, because a pipe can be read only once.
    func validate() throws { _ = try parsed(readsFile: false) }

    /// Makes the call, and prints its events and its result. The token is removed from the output.
    /// - Throws: The exit code of the report, unless the call succeeded.
    func run() async throws {
        let work = try parsed()
        let style = TextStyle(isColored: Terminal.isColored, secret: work.token)
        let isText = !json
        let report: CallReport
        switch work {
        case .call(let request):
            let timeline = CallTimeline { line in
                if isText { Terminal.say(style.redacted(line.text(in: style))) }
            }
            report = await call(request, timeline)
        case .queued(let request):
            report = try await queued(request.credentials(of: account), style) { try await $0.send(request) }
        case .drain(let base, let token):
            let credentials = token.map { Credentials(accessToken: $0, refreshToken: nil, userID: account) }
            report = try await queued(credentials, style) { call in
                guard call.exists else {
                    Terminal.complain("There is no queue in \(call.folder.path); specify its folder with --queue.")
                    throw ExitCode(4)
                }
                return try await call.drain(base)
            }
        }
        Terminal.say(style.redacted(json ? String(decoding: report.json.encoded(), as: UTF8.self) : report.text(in: style)))
        if report.exitCode != .success { throw report.exitCode }
    }

    /// Sends a request without a queue.
    private func call(_ request: CallRequest, _ timeline: CallTimeline) async -> CallReport {
        var client = APIClient(
            baseURL: request.base,
            transport: .urlSession(),
            timeout: .seconds(timeout),
            middleware: ClientPipeline.standard(retry: RetryMiddleware(RetryPolicy(maximumRetries: retries)))
        )
        client.listeners = [timeline]
        do throws(APIError) {
            let (response, body) = try await client.send(
                request.method,
                request.path,
                body: request.body,
                headers: request.headers,
                context: "holdfast_call"
            )
            return CallReport(.success(response, body), events: timeline.lines.map(\.json))
        } catch {
            return CallReport(.failure(error), events: timeline.lines.map(\.json))
        }
    }

    /// Calls a closure with the queue that the options describe.
    /// - Throws: `ExitCode` 4 if the queue can't be used.
    private func queued(
        _ credentials: Credentials?,
        _ style: TextStyle,
        _ body: (QueuedCall) async throws -> CallReport
    ) async throws -> CallReport {
        let isText = !json
        let call = QueuedCall(
            folder: URL(filePath: queue ?? ""),
            timeout: .seconds(timeout),
            retries: retries,
            credentials: credentials,
            adopts: adopt
        ) { line in
            if isText { Terminal.say(style.redacted(line.text(in: style))) }
        }
        do {
            return try await body(call)
        } catch let error as QueueError {
            throw Terminal.failure("Error: \(error)", ExitCode(4))
        }
    }

    /// The task of the command.
    private enum Work {
        /// Send a request.
        case call(CallRequest)
        /// Store a request in a queue, and send it.
        case queued(CallRequest)
        /// Send the stored requests of one server, or of all servers.
        case drain(URL?, token: String?)

        /// The token, which the output must not contain.
        var token: String? {
            switch self {
            case .call(let request), .queued(let request): request.token
            case .drain(_, let token): token
            }
        }
    }

    /// Returns the task that the options describe.
    /// - Parameter readsFile: Whether to read the file of the body. If `false`, the content of the file is missing in the request.
    /// - Throws: `ValidationError` for an invalid option or an invalid combination.
    private func parsed(readsFile: Bool = true) throws -> Work {
        guard timeout.isFinite, timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400 seconds")
        }
        guard (0...100).contains(retries) else { throw ValidationError("--retries must be between 0 and 100") }
        guard queue != nil || !drain && !adopt && account == nil else {
            throw ValidationError("--drain, --adopt and --account need --queue")
        }
        guard queue?.isEmpty != true else { throw ValidationError("--queue must name a folder") }
        let token = (token ?? ProcessInfo.processInfo.environment["HOLDFAST_TOKEN"]).flatMap { $0.isEmpty ? nil : $0 }
        guard queue == nil || (token == nil) == (account == nil) else {
            throw ValidationError("with --queue, a token needs --account, and --account needs a token")
        }
        if drain { return try parsedDrain(token) }
        guard let method else { throw ValidationError("a method is missing, such as GET") }
        guard let url else { throw ValidationError("an address is missing, such as https://api.example.com/path") }
        let request = try CallRequest(
            method: method,
            url: url,
            headers: header,
            data: data,
            readsFile: readsFile,
            key: key,
            token: token
        )
        guard queue != nil else { return .call(request) }
        guard [.post, .put, .patch, .delete].contains(request.method) else {
            throw ValidationError("--queue stores POST, PUT, PATCH and DELETE")
        }
        guard header.allSatisfy({ $0.split(separator: ":").first?.lowercased() == "content-type" })
        else { throw ValidationError("a queue stores no header but Content-Type") }
        return .queued(request)
    }

    /// Reads the arguments of `--drain`. The only argument is the address of a server, which can be omitted.
    private func parsedDrain(_ token: String?) throws -> Work {
        guard url == nil, data == nil, key == nil, header.isEmpty else {
            throw ValidationError("--drain takes at most an address: the requests are in the queue")
        }
        guard token == nil || method != nil else {
            throw ValidationError("with a token, --drain needs the address of the server that the token belongs to")
        }
        return .drain(try method.map { try CallRequest.address($0).base }, token: token)
    }
}

extension CallRequest {
    /// Returns the credentials of the account that the request belongs to.
    fileprivate func credentials(of account: String?) -> Credentials? {
        token.map { Credentials(accessToken: $0, refreshToken: nil, userID: account) }
    }
}
