import ArgumentParser
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import StrictJSON

/// `holdfast call`
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Call an API as an app would, and tell what happened on the way.",
        discussion: """
            Prints each attempt, each wait and why, what the client itself held back, and the answer as an app reads it: code, \
            message, problems of fields, request id, when to come back. What is safe to repeat is repeated; a POST or PATCH only \
            with --key, or if it surely never left.

              holdfast call GET https://api.example.com/api/activities
              holdfast call POST https://api.example.com/api/orders --key random -d '{"item":7}'

            A token is better given as HOLDFAST_TOKEN than as an option, which other users of the machine can see. It goes to the \
            address's own origin only, and is never printed. NO_COLOR turns colours off.

            Exit codes:
              0   a success was answered
              1   the server refused
              2   no answer came
              3   nobody knows whether it took effect: it was sent, the answer was lost, and repeating it is not safe
              4   the client itself held the call back
              64  bad usage
            """
    )

    @Argument(help: "GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE.")
    var method: String

    @Argument(help: "An address with https:// or http://.")
    var url: String

    @Option(name: [.customShort("H"), .long], help: "A header, as 'Name: value'; may be given several times.")
    var header: [String] = []

    @Option(name: .shortAndLong, help: "The body; @FILE reads it from a file.")
    var data: String?

    @Option(help: "The Idempotency-Key, so that a POST or PATCH may be repeated; 'random' makes one.")
    var key: String?

    @Option(help: "The access token; HOLDFAST_TOKEN if not given.")
    var token: String?

    @Option(help: "The seconds that the call may take, waits included.")
    var timeout: Double = 30

    @Option(help: "How often it is repeated at most.")
    var retries: Int = 3

    @Flag(help: "Print JSON: the events, then what came of it.")
    var json = false

    func validate() throws {
        _ = try parsed()
    }

    func run() async throws {
        let request = try parsed()
        let style = TextStyle(isColored: Terminal.isColored, secret: request.token)
        let isText = !json
        let timeline = CallTimeline { line in
            if isText { Terminal.say(style.redacted(line.text(in: style))) }
        }
        var client = APIClient(
            baseURL: request.base,
            transport: .urlSession(),
            timeout: .seconds(timeout),
            middleware: ClientPipeline.standard(retry: RetryMiddleware(RetryPolicy(maximumRetries: retries)))
        )
        client.listeners = [timeline]
        let report: CallReport
        do throws(APIError) {
            let (response, body) = try await client.send(
                request.method,
                request.path,
                body: request.body,
                headers: request.headers,
                context: "holdfast_call"
            )
            report = CallReport(.success(response, body), events: timeline.lines)
        } catch {
            report = CallReport(.failure(error), events: timeline.lines)
        }
        Terminal.say(style.redacted(json ? String(decoding: report.json.encoded(), as: UTF8.self) : report.text(in: style)))
        if report.exitCode != .success { throw report.exitCode }
    }

    private func parsed() throws -> CallRequest {
        guard timeout.isFinite, timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400 seconds")
        }
        guard (0...100).contains(retries) else { throw ValidationError("--retries must be between 0 and 100") }
        return try CallRequest(
            method: method,
            url: url,
            headers: header,
            data: data,
            key: key,
            token: token ?? ProcessInfo.processInfo.environment["HOLDFAST_TOKEN"]
        )
    }
}
