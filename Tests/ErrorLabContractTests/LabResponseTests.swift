import ErrorContract
import ErrorLabContract
import HoldfastTesting
import Testing

@Suite struct LabResponseTests {
    @Test("Reads back the same response that was encoded as a query")
    func roundTrip() throws {
        var response = LabResponse(.code(.rateLimitExceeded), retryAfter: .raw("1.5, 2"), times: 3, session: "a-1._Z")
        (response.form, response.language, response.status) = (.flat, .spanish, 418)
        (response.delay, response.dribble, response.drop, response.close) = (120_000, 6_000, .body, .reset)
        (response.truncate, response.contentType, response.charset, response.isBare) = (0, "text/html; a=\"b\"", .utf16, true)
        (response.redirect, response.seed, response.then) = (.cross, 9, .wrapped)
        #expect(try LabResponse(parameters: response.parameters) == response)
        var other = LabResponse()
        (other.family, other.flaky, other.content) = ("stripe", 0.25, .html)
        #expect(try LabResponse(parameters: other.parameters) == other)
        #expect(LabResponse().parameters.isEmpty)
    }

    @Test("Percent-encodes the path")
    func path() {
        var response = LabResponse(.code(.serverTimeout), retryAfter: .raw("a b&c=d#"))
        response.contentType = "text/html; charset=utf-8"
        #expect(
            response.path()
                == "/dev/lab/answer?code=SERVER_TIMEOUT&retry_after=raw:a%20b%26c%3Dd%23&type=text%2Fhtml%3B%20charset%3Dutf-8"
        )
        #expect(LabResponse().path(root: "/lab") == "/lab/answer")
    }

    @Test(
        "Refuses an invalid value and names the valid ones",
        arguments: [
            ("code", "rate_limited", "catalogue"), ("code", "", "catalogue"), ("code", "NO_SUCH_CODE", "status"),
            ("then", "NO_SUCH_CODE", "status"), ("form", "xml", "standard"), ("lang", "e", "tag"), ("lang", "es;q=1", "tag"),
            ("status", "100", "200"), ("status", "600", "599"), ("status", "4o4", "200"), ("retry_after", "-1", "date:SECONDS"),
            ("retry_after", "soon", "raw:TEXT"), ("retry_after", "date:", "date:SECONDS"), ("retry_after", "raw:", "raw:TEXT"),
            ("retry_after", "raw:a\r\nX: y", "raw:TEXT"), ("retry_after", "99999999999999999999", "86400"),
            ("delay_ms", "120001", "120000"), ("delay_ms", "-1", "0"), ("dribble_ms", "6001", "6000"),
            ("drop", "after", "before"),
            ("close", "rude", "fin"), ("truncate", "-1", "0"), ("truncate", "65537", "65536"), ("content", "pdf", "html"),
            ("type", "a\r\nb", "ASCII"), ("type", "", "ASCII"), ("charset", "ebcdic", "latin1"), ("bare", "yes", "true"),
            ("redirect", "away", "same"), ("times", "1001", "1000"), ("flaky", "1.1", "from 0 to 1"), ("flaky", "nan", "from 0"),
            ("seed", "-1", "0"), ("session", "a b", "letters"), ("session", "", "letters"), ("family", "nobody", "stripe"),
            ("deley_ms", "5", "delay_ms"), ("CODE", "ok", "code"),
        ]
    )
    func refused(name: String, value: String, hint: String) throws {
        let refusal = try #require(throws: LabRefusal.self) { try LabResponse(parameters: [(name, value)]) }
        #expect(refusal.problems.map(\.parameter) == [name])
        #expect(refusal.problems.first?.allowed.contains(hint) == true, "\(refusal)")
    }

    @Test("Reports every problem at once")
    func allProblems() throws {
        let parameters = [("code", "x"), ("delay_ms", "x"), ("drop", "x"), ("nonsense", "x"), ("form", "flat"), ("seed", "x")]
        let refusal = try #require(throws: LabRefusal.self) { try LabResponse(parameters: parameters) }
        #expect(refusal.problems.map(\.parameter) == ["code", "delay_ms", "drop", "seed", "nonsense"])
    }

    @Test(
        "Refuses contradictory parameters",
        arguments: [
            [("family", "stripe"), ("code", "ok")], [("family", "stripe"), ("form", "flat")],
            [("family", "stripe"), ("lang", "es")], [("times", "1"), ("flaky", "0.5")],
            [("content", "html"), ("charset", "bom")], [("status", "307"), ("code", "NO_SUCH_CODE"), ("redirect", "same")],
        ]
    )
    func contradictions(parameters: [(String, String)]) throws {
        let refusal = try #require(throws: LabRefusal.self) { try LabResponse(parameters: parameters) }
        #expect(refusal.problems.map(\.parameter) == [parameters[1].0])
    }

    @Test("Returns a code outside of the catalog with the status beside it")
    func unknownCode() throws {
        let code = [("code", "NO_SUCH_CODE"), ("status", "403")]
        for parameters in [code, code + [("redirect", "same")]] {
            let response = try LabResponse(parameters: parameters)
            #expect(response.outcome == .code(ErrorCode("NO_SUCH_CODE")))
        }
    }

    @Test("Refuses a code outside of the catalog in `then`, also with a status beside it")
    func unknownCodeThen() throws {
        let parameters = [("then", "NO_SUCH_CODE"), ("times", "1"), ("status", "403")]
        let refusal = try #require(throws: LabRefusal.self) { try LabResponse(parameters: parameters) }
        #expect(refusal.problems.map(\.parameter) == ["then"])
    }

    @Test("Reads or refuses random parameters with at most 50 problems, and never crashes")
    func garbage() {
        var generator = SplitMix64(seed: 1)
        let names = LabParameter.all.map(\.name) + ["", "x", "\u{0}"]
        let values = [
            "", "0", "-1", "1e400", "nan", "ok", "é", "\r\n", "{session}", String(repeating: "9", count: 400), "date:x",
        ]
        for _ in 0..<3_000 {
            let count = Int.random(in: 0...80, using: &generator)
            let parameters = (0..<count).map { _ in
                (names.randomElement(using: &generator) ?? "", values.randomElement(using: &generator) ?? "")
            }
            do {
                let response = try LabResponse(parameters: parameters)
                #expect((0...LabResponse.maximumDelay).contains(response.delay))
            } catch {
                #expect((1...50).contains(error.problems.count))
            }
        }
    }
}
