import ErrorContract
import Foundation
import HTTPTypes
import Testing

@Suite struct RepeatedRequestTests {
    private func error(_ status: Int, _ body: String, headers: HTTPFields = [:]) -> APIError {
        var headers = headers
        headers[.contentType] = "application/json"
        return APIError(ErrorDecoder().decode(status: status, headers: headers, body: Array(body.utf8), now: Date()))
    }

    @Test("A running request is repeated after the named delay, a finished one never")
    func states() {
        let conflict = { (state: String) in
            #"{"error":{"code":"REQUEST_CONFLICT","message":"x","details":{"state":"\#(state)"}}}"#
        }
        let running = error(409, conflict("running"), headers: [.retryAfter: "3"])
        #expect(running.repeatedRequest == .running && running.isRetryable && running.retryAfter == .seconds(3))
        let finished = error(409, conflict("finished"))
        #expect(finished.repeatedRequest == .finished && !finished.isRetryable && finished.recovery == .checkAgain)
    }

    @Test("A server that only sends Retry-After with a 409 is still working on the request")
    func foreignServer() {
        #expect(error(409, "{}", headers: [.retryAfter: "3"]).repeatedRequest == .running)
        #expect(error(409, "{}").repeatedRequest == nil)
        #expect(error(503, "{}", headers: [.retryAfter: "3"]).repeatedRequest == nil)
        let own = #"{"error":{"code":"NOTE_CHANGED","message":"x","details":{"state":"finished"}}}"#
        #expect(error(409, own).repeatedRequest == nil && error(409, own).recovery != .checkAgain)
    }
}
