import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite("Parsing server-sent events") struct EventStreamParserTests {
    private func parse(_ text: String, lastEventID: String = "") -> (events: [ServerSentEvent], parser: EventStreamParser) {
        var parser = EventStreamParser(lastEventID: lastEventID)
        parser.append(Array(text.utf8))
        var events: [ServerSentEvent] = []
        while let event = parser.next() { events.append(event) }
        return (events, parser)
    }

    @Test("Reads the examples of the specification")
    func specification() {
        let events = parse("data: This is the first message.\n\ndata: This is the second message, it\ndata: has two lines.\n\n")
            .events
        #expect(events.map(\.data) == ["This is the first message.", "This is the second message, it\nhas two lines."])
        #expect(parse("event: add\ndata: 73857293\n\n").events == [ServerSentEvent(type: "add", data: "73857293")])
        #expect(parse("data: YHOO\ndata: +2\ndata: 10\n\n").events == [ServerSentEvent(data: "YHOO\n+2\n10")])
        let ids = parse(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n").events
        #expect(ids.map(\.data) == ["first event", "second event", " third event"] && ids.map(\.id) == ["1", "", ""])
        #expect(parse("data\n\ndata\ndata\n\ndata:").events.map(\.data) == ["", "\n"])
        #expect(parse("data:test\n\ndata: test\n\n").events.map(\.data) == ["test", "test"])
    }

    @Test("Drops a byte order mark at the beginning only")
    func mark() {
        #expect(parse("\u{FEFF}data: a\n\n").events.map(\.data) == ["a"])
        #expect(parse("data: a\n\n\u{FEFF}data: b\n\n").events.map(\.data) == ["a"])
    }

    @Test("Ends lines with LF, CR and CRLF, and no others")
    func lines() {
        #expect(parse("data: a\r\ndata: b\rdata: c\n\r\n").events.map(\.data) == ["a\nb\nc"])
        #expect(parse("data: a\u{2028}b\u{85}c\n\n").events.map(\.data) == ["a\u{2028}b\u{85}c"])
    }

    @Test("Ignores an id with NUL and a retry that is not a number")
    func ignored() {
        let (events, parser) = parse("id: 1\nid: 2\u{0}\nretry: 1x\nretry:\nretry: -5\ndata: a\n\n")
        #expect(events.map(\.id) == ["1"] && parser.retry == nil)
        #expect(parse("retry: 2500\n").parser.retry == .milliseconds(2_500))
        #expect(parse("retry: 99999999999999999999\n").parser.retry == nil)
    }

    @Test("Stores an id with its event, also without data, and drops an incomplete event")
    func ids() {
        #expect(parse("id: 7\n\n").parser.lastEventID == "7")
        #expect(parse("id: 7\n\n").events.isEmpty)
        #expect(parse("id: 7\ndata: a\n").parser.lastEventID == "")
        #expect(parse("data: a\n\n", lastEventID: "6").events.map(\.id) == ["6"])
        #expect(parse("id\n\n", lastEventID: "6").parser.lastEventID == "")
        #expect(parse("event: x\n\ndata: a\n\n").events.map(\.type) == ["message"])
    }

    @Test("Reads the same events however the bytes are split over chunks")
    func split() {
        let text = Array("\u{FEFF}event: añadir\r\ndata: 🎉\rdata: b\n\nid: 9\ndata: c\r\n\r\n".utf8)
        let whole = [ServerSentEvent(type: "añadir", data: "🎉\nb"), ServerSentEvent(data: "c", id: "9")]
        for size in 1...text.count {
            var (parser, events) = (EventStreamParser(), [ServerSentEvent]())
            for start in stride(from: 0, to: text.count, by: size) {
                parser.append(Array(text[start..<min(start + size, text.count)]))
                while let event = parser.next() { events.append(event) }
            }
            #expect(events == whole, "chunks of \(size)")
        }
    }
}

/// The delays before connections.
private final class Pauses: Sendable {
    let all = Mutex<[Duration]>([])
}

@Suite("Reconnecting server-sent events", .timeLimit(.minutes(5))) struct ServerSentEventsTests {
    @Test("Bounds a delay from the server between a minimum and an hour")
    func namedDelays() {
        let rules = ServerSentEvents.Reconnection()
        #expect(rules.pause(failures: 0, named: .zero, chance: 0) == .milliseconds(500))
        #expect(rules.pause(failures: 0, named: .seconds(Int64.max / 4), chance: 0) == .seconds(3_600))
        #expect(rules.pause(failures: 3, named: .zero, chance: 0) >= .milliseconds(500))
    }

    private let lost = TransportError(.connectionLost, message: "m", wasSent: true)

    private func stream(_ text: String, end: TransportError? = nil) -> ScriptedTransport.Step {
        .stream(status: 200, headers: [.contentType: "text/event-stream; charset=utf-8"], chunks: [Array(text.utf8)], end: end)
    }

    /// Reads all events while the clock jumps from sleep to sleep.
    private func read(
        _ steps: [ScriptedTransport.Step],
        rules: ServerSentEvents.Reconnection = ServerSentEvents.Reconnection(),
        lastEventID: String = "",
        chance: Double = 0,
        session: Session? = nil,
        middleware: [any ClientMiddleware] = []
    ) async throws -> (data: [String], pauses: [Duration], error: APIError?, sent: [HTTPRequest]) {
        let (transport, clock) = (ScriptedTransport(steps), ManualClock())
        let pauses = Pauses()
        let url = try #require(URL(string: "https://api.example.org"))
        let environment = ClientEnvironment(clock: MonotonicClock(clock), chance: { chance })
        let api = APIClient(
            baseURL: url,
            transport: transport,
            session: session,
            middleware: middleware,
            environment: environment
        )
        let result = await withTaskGroup(of: (data: [String], error: APIError?)?.self) { group in
            group.addTask {
                var data: [String] = []
                do throws(APIError) {
                    var events = api.events("/e", lastEventID: lastEventID, reconnection: rules).makeAsyncIterator()
                    while let event = try await events.next() { data.append(event.data) }
                    return (data, nil)
                } catch {
                    return (data, error)
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    if let next = clock.nextDeadline {
                        let pause = next.offset - clock.now.offset
                        pauses.all.withLock { $0.append(pause) }
                        clock.advance(by: pause)
                    }
                    await Task.yield()
                }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        return (result?.data ?? [], pauses.all.withLock(\.self), result?.error, transport.sent.map(\.request))
    }

    @Test("Reconnects with the last id after an end or a break, until the server sends 204")
    func reconnects() async throws {
        let result = try await read([
            stream("id: 1\ndata: a\n\n"), stream("data: b\n\nid: 2\ndata: lost\n", end: lost), stream("id: ñ\ndata: c\n\n"),
            .response(status: 204),
        ])
        #expect(result.data == ["a", "b", "c"] && result.error == nil)
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(result.sent.map { $0.headerFields[name] } == [nil, "1", "1", "ñ"])
        #expect(result.sent.allSatisfy { $0.headerFields[.accept] == "text/event-stream" })
        #expect(result.sent.allSatisfy { $0.headerFields[.cacheControl] == "no-store" })
        #expect(result.pauses == [.seconds(3), .seconds(3), .seconds(3)])
    }

    @Test("Waits the server's retry delay plus up to a quarter")
    func named() async throws {
        let steps = [stream("retry: 10000\ndata: a\n\n"), stream("data: b\n\n"), .response(status: 204)]
        #expect(try await read(steps).pauses == [.seconds(10), .seconds(10)])
        #expect(try await read(steps, chance: 1).pauses == [.seconds(12.5), .seconds(12.5)])
    }

    @Test("Doubles the delay per failed connection up to the cap, and resets on success")
    func backoff() async throws {
        let fails = ScriptedTransport.Step.failure(TransportError(.unreachable, message: "m", wasSent: false))
        let steps = Array(repeating: fails, count: 6) + [stream("data: a\n\n"), .response(status: 204)]
        let result = try await read(steps, chance: 1)
        #expect(result.pauses == [6, 12, 24, 48, 60, 60, 3.75].map { Duration.seconds($0) })
        #expect(result.data == ["a"])
    }

    @Test("Waits at least for the delay of a refusal, but at most an hour", arguments: [(90, 90), (1_000_000, 3_600)])
    func retryAfter(seconds: Int, expected: Int) async throws {
        let result = try await read([.response(status: 503, headers: [.retryAfter: "\(seconds)"]), .response(status: 204)])
        #expect(result.pauses == [.seconds(expected)] && result.error == nil)
    }

    @Test("Ends with the error of a permanent refusal or of a response without events")
    func refused() async throws {
        #expect(try await read([.response(status: 404)]).error?.status == 404)
        let page = try await read([.response(status: 200, headers: [.contentType: "text/html"], body: "<html>")])
        #expect(page.error?.kind == .decoding && page.error?.status == 200 && page.sent.count == 1)
    }

    @Test("Ends after the maximum number of consecutive failures, if there is one")
    func maximum() async throws {
        let steps = Array(repeating: ScriptedTransport.Step.failure(lost), count: 9)
        let result = try await read(steps, rules: ServerSentEvents.Reconnection(maximumFailures: 3))
        #expect(result.error?.kind == .network && result.sent.count == 3)
    }

    @Test("Starts after the id that the caller stored")
    func resumes() async throws {
        let result = try await read([stream("data: a\n\n"), .response(status: 204)], lastEventID: "41")
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(result.sent.map { $0.headerFields[name] } == ["41", "41"])
    }

    @Test("Reconnects after a refresh of the token")
    func refresh() async throws {
        let session = Session.ofAna()
        let result = try await read(
            [stream("id: 1\ndata: a\n\n"), stream("data: b\n\n"), .response(status: 204)],
            session: session,
            middleware: [beforeSecondRequest { try await session.refreshNow() }]
        )
        #expect(result.data == ["a", "b"] && result.error == nil)
        #expect(result.sent.map { $0.headerFields[.authorization] } == ["Bearer ana", "Bearer ana2", "Bearer ana2"])
    }

    @Test("Doesn't reconnect with the token of another user", arguments: [true, false])
    func otherUser(wasConnected: Bool) async throws {
        let session = Session.ofAna()
        let result = try await read(
            [wasConnected ? stream("id: 42\ndata: a\n\n") : .failure(lost), stream("data: private\n\n"), .response(status: 204)],
            lastEventID: "41",
            session: session,
            middleware: [beforeSecondRequest { try await session.setCredentials(.eva) }]
        )
        #expect(result.data == (wasConnected ? ["a"] : []))
        #expect(result.error?.kind == .unauthorized && result.error?.recovery == .dismiss)
        #expect(result.sent.map { $0.headerFields[.authorization] } == ["Bearer ana"])
    }
}
