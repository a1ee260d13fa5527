import ErrorContract
import Foundation
import StrictJSON
import Testing

@Suite struct CaughtErrorTests {
    private struct Item: Decodable {
        var name: String
        var size: Int?
    }

    private struct Order: Decodable {
        var items: [Item]
    }

    private func decodingError(_ text: String) -> APIError? {
        do {
            _ = try JSONDecoder().decode(Order.self, from: Data(text.utf8))
            return nil
        } catch {
            return APIError(error, context: "load_orders")
        }
    }

    @Test(
        "A value that is not as expected is named by its place and by what is wrong with it",
        arguments: [
            (#"{"items":[{"name":"a"},{}]}"#, "items[1].name", "missing"),
            (#"{"items":[{"name":"a"},{"name":null}]}"#, "items[1].name", "null"),
            (#"{"items":[{"name":7}]}"#, "items[0].name", "type"), (#"{"items":{}}"#, "items", "type"),
            ("{}", "items", "missing"),
            ("{", nil, "corrupted"), ("", nil, "corrupted"), ("[]", nil, "type"),
        ]
    )
    func decoding(text: String, path: String?, problem: String) {
        let error = decodingError(text)
        #expect(error?.kind == .decoding && error?.code == .decodingError && error?.retry == .never)
        #expect(error?.details["path"]?.stringValue == path)
        #expect(error?.details["problem"]?.stringValue == problem)
        #expect(error?.underlying is DecodingError && error?.context == "load_orders")
    }

    @Test("A value that cannot be written is a request that could not be built")
    func encoding() {
        do {
            _ = try JSONEncoder().encode(["a": [1, Double.infinity]])
            Issue.record("infinity was written")
        } catch {
            let error = APIError(error, context: "c")
            #expect(error.kind == .invalidRequest && error.code == .invalidRequest && error.attempts == 0)
            #expect(error.details["path"] == "a[1]" && error.underlying is EncodingError)
        }
    }

    @Test("An API error stays as it is, and gets a context only if it has none")
    func apiError() {
        var error = APIError(.conflict, context: "own")
        error.attempts = 3
        #expect(APIError(error as any Error, context: "other").context == "own")
        #expect(APIError(error as any Error).attempts == 3)
        #expect(APIError(APIError(.conflict) as any Error, context: "other").context == "other")
    }

    private struct Declined: APIErrorConvertible {
        func apiError(context: String?) -> APIError {
            APIError(kind: .custom, code: ErrorCode("CARD_DECLINED"), recovery: .retry)
        }
    }

    @Test("An error that says itself what it is is believed")
    func convertible() {
        let error = APIError(Declined(), context: "pay")
        #expect(error.code.rawValue == "CARD_DECLINED" && error.recovery == .retry && error.context == "pay")
    }

    @Test("A cancelled task is cancelled, however the system says it")
    func cancelled() {
        let ways: [any Error] = [
            CancellationError(), URLError(.cancelled), POSIXError(.ECANCELED), CocoaError(.userCancelled),
            NSError(domain: NSURLErrorDomain, code: NSURLErrorCancelled),
        ]
        for way in ways {
            let error = APIError(way, context: "c")
            #expect(error.kind == .cancelled && error.code == .cancelled && !error.isRetryable, "\(way)")
            #expect(error.context == "c" && error.underlying != nil)
        }
    }

    private struct Plain: Error { var secret = "s3cret" }

    private struct Spoken: LocalizedError {
        var errorDescription: String?
    }

    @Test("An error that nobody knows is unknown, and none of its insides are shown")
    func unknown() {
        let error = APIError(Plain(), context: "c")
        #expect(error.kind == .custom && error.code == .unknown && error.message == nil && !error.isRetryable)
        #expect(!"\(error)".contains("s3cret") && error.underlying is Plain)
        #expect(error.presentation(in: .spanish, now: .distantPast).message == "Ocurrió un error. Por favor, intenta de nuevo.")
    }

    @Test("The text that an app's own error brings for people is shown")
    func localized() {
        let own: [any Error] = [
            Spoken(errorDescription: "La tarjeta caducó."),
            NSError(domain: "org.example.app", code: 7, userInfo: [NSLocalizedDescriptionKey: "La tarjeta caducó."]),
        ]
        for error in own.map({ APIError($0) }) {
            #expect(error.kind == .custom && error.code == .unknown && error.message == "La tarjeta caducó.")
            #expect(error.presentation(in: .english, now: .distantPast).message == "La tarjeta caducó.")
        }
    }

    @Test(
        "A text that is none, or that is not for people, is not shown",
        arguments: [nil, "", "<html><body>502</body></html>", "Traceback (most recent call last):\n  File", "a\u{0}b"]
    )
    func unfitText(text: String?) {
        #expect(APIError(Spoken(errorDescription: text)).message == nil)
    }

    @Test("A system's own text, which may name files, is not shown")
    func systemText() {
        let info = [NSLocalizedDescriptionKey: "The file “accounts.db” couldn’t be opened."]
        for domain in [NSCocoaErrorDomain, NSPOSIXErrorDomain, NSURLErrorDomain] {
            #expect(APIError(NSError(domain: domain, code: 257, userInfo: info)).message == nil)
        }
    }

    @Test("Numbers that no system has are no trap", arguments: [Int.min, -70_000, -1, 0, 1, 256, 1 << 40, Int.max])
    func oddNumbers(code: Int) {
        for domain in [NSCocoaErrorDomain, NSPOSIXErrorDomain, NSURLErrorDomain, "", "x"] {
            #expect(APIError(NSError(domain: domain, code: code), context: "c").context == "c")
        }
    }
}
