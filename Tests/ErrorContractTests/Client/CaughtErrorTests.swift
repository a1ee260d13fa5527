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
        "Reports an unexpected value with its coding path and the problem",
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

    @Test("A value that can't be encoded is a request that could not be built")
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

    @Test("Keeps an API error, and adds a context only if it has none")
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

    @Test("Uses the kind that a convertible error declares")
    func convertible() {
        let error = APIError(Declined(), context: "pay")
        #expect(error.code.rawValue == "CARD_DECLINED" && error.recovery == .retry && error.context == "pay")
    }

    @Test("Recognizes every form of a canceled task as canceled")
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

    @Test("An unknown error is of kind unknown and shows no internal details")
    func unknown() {
        let error = APIError(Plain(), context: "c")
        #expect(error.kind == .custom && error.code == .unknown && error.message == nil && !error.isRetryable)
        #expect(!"\(error)".contains("s3cret") && error.underlying is Plain)
        #expect(error.presentation(in: .spanish, now: .distantPast).message == "Ocurrió un error. Por favor, intenta de nuevo.")
    }

    @Test("Shows the user-facing text of an app's own error")
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
        "Does not show an empty text or one not meant for users",
        arguments: [nil, "", "<html><body>502</body></html>", "Traceback (most recent call last):\n  File", "a\u{0}b"]
    )
    func unfitText(text: String?) {
        #expect(APIError(Spoken(errorDescription: text)).message == nil)
    }

    @Test("Does not show a system's own text, which may name files")
    func systemText() {
        let info = [NSLocalizedDescriptionKey: "The file “accounts.db” couldn’t be opened."]
        for domain in [NSCocoaErrorDomain, NSPOSIXErrorDomain, NSURLErrorDomain] {
            #expect(APIError(NSError(domain: domain, code: 257, userInfo: info)).message == nil)
        }
    }

    @Test("Invalid error numbers do not trap", arguments: [Int.min, -70_000, -1, 0, 1, 256, 1 << 40, Int.max])
    func oddNumbers(code: Int) {
        for domain in [NSCocoaErrorDomain, NSPOSIXErrorDomain, NSURLErrorDomain, "", "x"] {
            #expect(APIError(NSError(domain: domain, code: code), context: "c").context == "c")
        }
    }
}
