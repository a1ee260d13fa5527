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
        abstract: "Call an API like an app, and report each step.",
        discussion: """
            Prints each attempt, each delay and its reason, refusals of the client itself, and the response as an app reads it: code, \
            message, problems of fields, request id, and the time of a retry. Safe requests are retried. A POST or PATCH is only retried \
            with --key, or if it was certainly not sent.

              holdfast call GET https://api.example.com/api/activities
              holdfast call POST https://api.example.com/api/orders --key random -d '{"item":7}'

            Pass a token as HOLDFAST_TOKEN rather than as an option, which other users of the machine can see. The token is only sent to \
            the origin of the address, and is never printed. NO_COLOR turns colors off.

            Exit codes:
              0   the response was a success
              1   the server refused the request
              2   there was no response
              3   the outcome is unknown: the request was sent, the response was lost, and a retry is not safe
              4   the client itself refused the call
              64  invalid usage
            """
    )

    @Argument(help: "The method: GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE.")
    var method: String

    @Argument(help: "The address, with https:// or http://.")
    var url: String

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
