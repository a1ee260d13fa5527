import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite("Lines of a response") struct LinesTests {
    private func lines(_ chunks: [[UInt8]]) async throws -> [String] {
        let api = try makeClient(ScriptedTransport([.stream(status: 200, chunks: chunks)]))
        return try await api.lines("/a").reduce(into: []) { $0.append($1) }
    }

    @Test("End with LF, CR, CRLF or a Unicode separator; the last one needs no end")
    func ends() async throws {
        let text = "a\nb\rc\r\nd\u{85}e\u{2028}f\u{2029}g\u{0B}h\u{0C}i"
        #expect(try await lines([Array(text.utf8)]) == ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
    }

    @Test("Include empty ones, and none after the last end")
    func empty() async throws {
        #expect(try await lines([Array("\n\na\n".utf8)]) == ["", "", "a"])
        #expect(try await lines([Array("\r\n\r\n".utf8)]) == ["", ""])
        #expect(try await lines([]) == [])
    }

    @Test("Do not depend on how the bytes are split over chunks")
    func split() async throws {
        let text = "señal: 🎉\r\nd\u{2028}e\u{85}\rÿ\u{2027}z\n"
        let whole = try await lines([Array(text.utf8)])
        #expect(whole == ["señal: 🎉", "d", "e", "", "ÿ\u{2027}z"])
        let bytes = Array(text.utf8)
        #expect(try await lines(bytes.map { [$0] }) == whole)
        for cut in bytes.indices {
            #expect(try await lines([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "cut at \(cut)")
        }
    }

    @Test("Replace invalid UTF-8, also at the end of the body")
    func invalid() async throws {
        #expect(try await lines([[0x61, 0xFF, 0x0A, 0xE2, 0x80]]) == ["a\u{FFFD}", "\u{FFFD}"])
    }

    @Test("Are returned as soon as their end has arrived")
    func prompt() async throws {
        let end = TransportError(.connectionLost, message: "m", wasSent: true)
        let api = try makeClient(ScriptedTransport([.stream(status: 200, chunks: [Array("a\rb".utf8)], end: end)]))
        var lines = try await api.lines("/a").makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let error = await failure { _ = try await lines.next() }
        #expect(error?.kind == .network)
    }
}
