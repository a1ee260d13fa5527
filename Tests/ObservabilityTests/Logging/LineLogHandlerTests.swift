import Foundation
import Logging
import Synchronization
import Testing

@testable import Observability

@Suite struct LineLogHandlerTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        var last: String { all.withLock { $0.last ?? "" } }
    }

    private func logger(_ format: LogFormat, _ lines: Lines) -> Logger {
        let now = Date(timeIntervalSince1970: 1_795_256_730.25)
        var logger = Logger(label: "holdfast") { label in
            LineLogHandler(label: label, format: format, now: { now }) { line in lines.all.withLock { $0.append(line) } }
        }
        logger.logLevel = .trace
        return logger
    }

    @Test("Text is time, level, label, message, request id, then the metadata in order")
    func text() {
        let lines = Lines()
        var logger = logger(.text, lines)
        logger[metadataKey: "hb.request.id"] = "r-1"
        logger.info("Mail handed over", metadata: ["mail.kind": "password_reset", "a": "1"])
        #expect(
            lines.last == "2026-11-21T10:25:30.250Z info holdfast: Mail handed over request_id=r-1 a=1 mail.kind=password_reset"
        )
    }

    @Test("A line's value overrides the provider's, and that the logger's")
    func precedence() {
        let lines = Lines()
        var handler = LineLogHandler(label: "holdfast", format: .text, now: { Date(timeIntervalSince1970: 0) }) { line in
            lines.all.withLock { $0.append(line) }
        }
        handler.metadataProvider = .init { ["b": "provider", "c": "provider", "hb.request.id": "provider"] }
        handler.metadata = ["a": "logger", "b": "logger", "c": "logger"]
        handler[metadataKey: "d"] = "logger"
        handler[metadataKey: "e"] = "logger"
        handler[metadataKey: "e"] = nil
        handler[metadataKey: "a"] = "changed"
        handler[metadataKey: "f"] = nil
        #expect(handler[metadataKey: "a"] == "changed" && handler[metadataKey: "e"] == nil)
        #expect(handler.metadata == ["a": "changed", "b": "logger", "c": "logger", "d": "logger"])
        var logger = Logger(label: "holdfast") { _ in handler }
        logger.info("Event", metadata: ["c": "line"])
        logger[metadataKey: "hb.request.id"] = "logger"
        logger.info("Event", metadata: ["hb.request.id": "line"])
        let rest = "Event request_id=provider a=changed b=provider c=line d=logger"
        #expect(lines.all.withLock { $0.first }?.hasSuffix(rest) == true)
        #expect(lines.last.contains("request_id=line a=changed b=provider c=provider d=logger"))
    }

    @Test("JSON is one object with the same fields, and can be parsed")
    func json() throws {
        let lines = Lines()
        var logger = logger(.json, lines)
        logger[metadataKey: "hb.request.id"] = "r-1"
        logger.warning("“Ünïcode” \"quoted\"\n\u{1}\u{2028}", metadata: ["list": ["a", "b"], "map": ["k": "v"]])
        #expect(lines.last.utf8.allSatisfy { $0 >= 0x20 })
        #expect(!lines.last.unicodeScalars.contains("\u{2028}"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(lines.last.utf8)) as? NSDictionary)
        let expected: NSDictionary = [
            "time": "2026-11-21T10:25:30.250Z", "level": "warning", "label": "holdfast", "request_id": "r-1",
            "message": "“Ünïcode” \"quoted\"\n\u{1}\u{2028}", "metadata": ["list": ["a", "b"], "map": ["k": "v"]],
        ]
        #expect(object == expected)
    }

    @Test(
        "A message can't start a new line or move a terminal's cursor",
        arguments: ["\n", "\r", "\u{1B}[2J", "\u{85}", "\u{2028}", "\u{202E}"]
    )
    func injection(odd: String) {
        let lines = Lines()
        logger(.text, lines).info("a\(odd)b", metadata: ["k\(odd)": "v\(odd)w"])
        for scalar in odd.unicodeScalars where !scalar.isASCII || scalar.value < 0x20 {
            #expect(!lines.last.unicodeScalars.contains(scalar))
        }
    }

    @Test("Masks secrets in messages and values, and hides values of secret names", arguments: LogFormat.allCases)
    func redacted(format: LogFormat) {
        let lines = Lines()
        let secret = "hunter2 of ours"
        logger(format, lines).info(
            "to ana@example.com",
            metadata: [
                "password": "\(secret)", "user.email": "x", "nested": ["api_token": "\(secret)"], "text": "bea@example.com",
            ]
        )
        #expect(!lines.last.contains("@"))
        #expect(!lines.last.contains(secret))
        #expect(lines.last.contains("[hidden]") && lines.last.contains("[address]"))
    }

    @Test("Hides the value of a secret name at any depth", arguments: LogFormat.allCases)
    func deepSecret(format: LogFormat) {
        let lines = Lines()
        let secret: Logger.MetadataValue = ["password": "hunter2", "list": [["token": "hunter2"]]]
        let nested = (0..<6).reduce(secret) { inner, _ in .dictionary(["nested": inner]) }
        logger(format, lines).info("Event", metadata: ["a": nested])
        #expect(!lines.last.contains("hunter2"))
        #expect(lines.last.contains("[hidden]"))
    }

    @Test("Shows no part of a secret at which a long text is cut", arguments: LogFormat.allCases)
    func secretAtCut(format: LogFormat) {
        let lines = Lines()
        let secret = "q5Zr3V0m8xJw2K7nB1cT9yUe4LhFdSgA6oPiQkRtXvE"
        let text = String(repeating: "a", count: 4_060) + " \(secret)" + String(repeating: " more", count: 10)
        logger(format, lines).info("Event", metadata: ["a": "\(text)"])
        #expect(!lines.last.contains(String(secret.prefix(8))))
        #expect(lines.last.contains("[token] [token]…"))
    }

    @Test("Lines are bounded, and truncated JSON is still valid", arguments: LogFormat.allCases)
    func bounded(format: LogFormat) throws {
        let lines = Lines()
        let long = String(repeating: "é·", count: 100_000)
        var metadata: Logger.Metadata = [:]
        for number in 0..<500 { metadata["k\(number)"] = "\(long)" }
        metadata["deep"] = (0..<50).reduce(Logger.MetadataValue.string("x")) { inner, _ in .array([inner]) }
        logger(format, lines).error("\(long)", metadata: metadata)
        #expect(lines.last.utf8.count < 150_000)
        #expect(lines.last.contains("…"))
        if format == .json { _ = try JSONSerialization.jsonObject(with: Data(lines.last.utf8)) }
    }

    @Test(
        "Times are UTC with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_399.999, "2000-02-28T23:59:59.999Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.000Z"), (1e20, "9999-12-31T23:59:59.999Z"),
            (-1e20, "0000-01-01T00:00:00.000Z"),
        ] as [(Double, String)]
    )
    func times(seconds: Double, expected: String) {
        #expect(LogTime.text(of: Date(timeIntervalSince1970: seconds)) == expected)
    }
}
