import ArgumentParser
import ErrorContract
import Foundation
import HTTPTypes
import OfflineQueue
import ResilientHTTP
import StrictJSON
import Timekeeping

/// The result of a call, as text for a terminal and as JSON for a program.
struct CallReport {
    /// The way in which a call ended. The exit code depends on it.
    enum End {
        /// The server responded with a success.
        case success(HTTPResponse, [UInt8])
        /// The call failed, or the server refused it.
        case failure(APIError)
        /// A queue stored the request and sends it later.
        case queued(QueuedRequestID, pending: Int)
        /// The server performed the request in an earlier attempt, but the response to that attempt is lost.
        case delivered
        /// The command sent the stored requests of a queue.
        case drained(delivered: Int, deadLetters: Int, pending: Int)
    }

    /// The largest number of bytes of a body that a terminal shows.
    static let shownBody = 16 * 1_024
    /// The end of the call.
    let end: End
    /// The events of the call as JSON, in their order.
    let events: [JSONValue]
    /// The reason why requests are left in the queue although they may have been delivered; `nil` if the journal could be written.
    let journalFailure: JournalFailure?

    /// Creates a report.
    /// - Parameters:
    ///   - end: The end of the call.
    ///   - events: The events as JSON. Only ``json`` contains them, because a terminal shows each event when it happens.
    ///   - journalFailure: The failed write to the journal of the queue, if requests are left because of it.
    init(_ end: End, events: [JSONValue], journalFailure: JournalFailure? = nil) {
        self.end = end
        self.events = events
        self.journalFailure = journalFailure
    }

    /// The exit code, as documented in `--help`.
    var exitCode: ExitCode {
        guard journalFailure == nil else { return ExitCode(4) }
        switch end {
        case .success, .delivered: return .success
        case .queued: return ExitCode(5)
        case .drained(_, let deadLetters, let pending): return deadLetters > 0 ? .failure : pending > 0 ? ExitCode(5) : .success
        case .failure(let error):
            if error.underlying is QueueError { return ExitCode(4) }
            return switch error.kind {
            case .unknownOutcome: ExitCode(3)
            case .throttled, .unavailable: ExitCode(4)
            default: error.status == nil ? ExitCode(2) : .failure
            }
        }
    }

    /// Returns the report as text for a terminal. A long body is cut after ``shownBody`` bytes.
    func text(in style: TextStyle) -> String {
        endText(in: style) + (journalFailure.map { "\n" + style.bad("Error: \($0)") } ?? "")
    }

    /// Returns the end of the call as text, without a failure of the journal.
    private func endText(in style: TextStyle) -> String {
        switch end {
        case .success(let response, let body):
            let type = response.headerFields[.contentType].map { ", \($0)" } ?? ""
            let head = style.good("\(response.status.code)") + ", \(body.count) bytes\(type)"
            return "\n" + head + (body.isEmpty ? "" : "\n\n" + shown(body))
        case .failure(let error): return "\n" + text(error, in: style)
        case .queued(let id, let pending):
            let command = "holdfast call --queue DIR --drain"
            return "\n" + style.waiting("stored as request \(id)") + "; \(pending) pending. To send: \(command)"
        case .delivered: return "\n" + style.good("delivered") + ", the response to an earlier attempt is lost"
        case .drained(let delivered, let deadLetters, let pending):
            let letters = deadLetters == 0 ? "0 dead letters" : style.bad("\(deadLetters) dead letters")
            return "\n" + style.good("\(delivered) delivered") + ", \(letters), \(pending) pending"
        }
    }

    /// Returns a body as text. A body with control characters is not shown, because they could change the terminal.
    private func shown(_ body: [UInt8]) -> String {
        guard let text = String(validating: body, as: UTF8.self), !text.unicodeScalars.contains(where: Self.isControl) else {
            return "(not text)"
        }
        guard body.count <= Self.shownBody else {
            return String(decoding: body.prefix(Self.shownBody), as: UTF8.self) + "\n… \(body.count - Self.shownBody) bytes more"
        }
        return text
    }

    /// Returns whether a terminal would interpret a character instead of showing the character.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && !["\n", "\r", "\t"].contains(scalar) || (0x7F...0x9F).contains(scalar.value)
    }

    /// Returns an error as a title and a line for each of its values. Control characters in the server's texts become spaces.
    private func text(_ error: APIError, in style: TextStyle) -> String {
        let shown = error.presentation(in: .english, now: Date())
        var rows = [("kind", "\(error.kind)"), ("message", error.message ?? shown.message)]
        rows += error.violations.map { problem in
            ("field", "\(problem.field) (\(problem.code?.rawValue ?? "no code")): \(problem.message)")
        }
        if let id = error.requestID { rows.append(("request id", id)) }
        if let wait = error.retryAfter {
            let date = error.retryAt.map { "\($0.formatted(.iso8601)), " } ?? ""
            rows.append(("retry at", "\(date)in \(wait.wholeSecondsRoundedUp) s"))
        }
        rows.append(("attempts", "\(error.attempts)"))
        if let cause = error.underlying as? TransportError { rows.append(("cause", cause.code.rawValue)) }
        let title = [error.status.map { "\($0)" }, error.code.rawValue].compactMap(\.self).joined(separator: " ")
        return style.bad(title)
            + rows.map { name, value in
                let plain = String(value.unicodeScalars.map { Self.isControl($0) ? " " : Character($0) })
                return "\n  " + style.faint(name + String(repeating: " ", count: 12 - name.count)) + plain
            }.joined()
    }

    /// The report as JSON: `events`, then `success`, `error` or another member for the end of the call, and then `journal_error` if the
    /// journal could not be written.
    var json: JSONValue {
        var members = [("events", JSONValue.array(events)), endMember]
        if let journalFailure {
            var error = journalFailure.error.apiError(context: nil)
            error.message = "\(journalFailure)"
            members.append(("journal_error", json(error)))
        }
        return .object(JSONObject(members))
    }

    /// The end of the call as a member of ``json``.
    private var endMember: (String, JSONValue) {
        switch end {
        case .success(let response, let body):
            (
                "success",
                [
                    "status": .integer(Int64(response.status.code)),
                    "content_type": response.headerFields[.contentType].map { .string($0) } ?? .null,
                    "bytes": .integer(Int64(body.count)),
                    "body": (try? JSONParser().parse(body)) ?? String(validating: body, as: UTF8.self).map { .string($0) }
                        ?? .null,
                ]
            )
        case .failure(let error): ("error", json(error))
        case .queued(let id, let pending):
            ("queued", ["request": .integer(Int64(clamping: id.rawValue)), "pending": .integer(Int64(pending))])
        case .delivered: ("delivered", true)
        case .drained(let delivered, let deadLetters, let pending):
            (
                "drained",
                [
                    "delivered": .integer(Int64(delivered)), "dead_letters": .integer(Int64(deadLetters)),
                    "pending": .integer(Int64(pending)),
                ]
            )
        }
    }

    /// Returns an error as JSON, with the unchanged texts of the server.
    private func json(_ error: APIError) -> JSONValue {
        [
            "kind": .string("\(error.kind)"),
            "code": .string(error.code.rawValue),
            "status": error.status.map { .integer(Int64($0)) } ?? .null,
            "message": error.message.map { .string($0) } ?? .null,
            "fields": .array(
                error.violations.map { problem in
                    [
                        "field": .string(problem.field),
                        "code": problem.code.map { .string($0.rawValue) } ?? .null,
                        "message": .string(problem.message),
                    ]
                }
            ),
            "request_id": error.requestID.map { .string($0) } ?? .null,
            "retry_after": error.retryAfter.map { .integer(Int64($0.wholeSecondsRoundedUp)) } ?? .null,
            "retry_at": error.retryAt.map { .string($0.formatted(.iso8601)) } ?? .null,
            "attempts": .integer(Int64(error.attempts)),
        ]
    }
}
