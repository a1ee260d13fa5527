import Testing

@testable import ServerMiddleware

@Suite struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test("Reads a traceparent of the recommendation")
    func read() throws {
        let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01"))
        #expect(context.traceID == Self.trace)
        #expect(context.spanID == Self.span)
        #expect(context.isSampled)
        let child = context.child()
        #expect(child.traceID == Self.trace)
        #expect(child.spanID != Self.span)
        #expect(child.isSampled)
        #expect(TraceContext(traceparent: child.traceparent) == child)
    }

    @Test("Reads the known part of a later version, and drops other flags")
    func later() throws {
        for text in [
            "cc-\(Self.trace)-\(Self.span)-03", "01-\(Self.trace)-\(Self.span)-01-what-comes", "00-\(Self.trace)-\(Self.span)-ff",
        ] {
            #expect(try #require(TraceContext(traceparent: text)).traceparent == "00-\(Self.trace)-\(Self.span)-01")
        }
    }

    @Test(
        "Refuses any other text",
        arguments: [
            "", "-", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-01-",
            "00-\(trace)-\(span)-01x",
            "ff-\(trace)-\(span)-01", "01-\(trace)-\(span)-01x", "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span)-0g",
            "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01", "00_\(trace)-\(span)-01",
            " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ", "00-\(trace)-\(span)-０1", "0-\(trace)0-\(span)-01",
            "cc-\(trace)-\(span)-01-" + String(repeating: "x", count: 1_000),
        ]
    )
    func refused(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test("New ones are valid and unique")
    func new() {
        let all = (0..<1_000).map { _ in TraceContext.new() }
        for trace in all { #expect(TraceContext(traceparent: trace.traceparent) == trace) }
        #expect(Set(all.map(\.traceID)).count == all.count)
    }
}
