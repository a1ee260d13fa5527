import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import StrictJSON
import Testing

@Suite("JSON coding of a client") struct JSONCodingTests {
    private struct Event: Codable, Hashable {
        var createdAt: Date
        var displayName: String
    }

    private let event = Event(createdAt: Date(timeIntervalSince1970: 1_762_252_200.25), displayName: "a")

    private func roundTrip(_ coding: JSONCoding, _ body: String) async throws -> (value: Event, sent: String) {
        let transport = ScriptedTransport([.response(status: 200, body: body)])
        var api = try makeClient(transport)
        api.coding = coding
        let value: Event = try await api.post("/events", event)
        return (value, String(decoding: transport.sent.first?.body ?? [], as: UTF8.self))
    }

    @Test(
        "Snake case applies to requests and responses, wrapped and flat",
        arguments: [
            #"{"created_at":"2025-11-04T10:30:00.25Z","display_name":"a"}"#,
            #"{"success":true,"data":{"created_at":"2025-11-04T10:30:00.25Z","display_name":"a"}}"#,
        ]
    )
    func snakeCase(body: String) async throws {
        let (value, sent) = try await roundTrip(.snakeCase, body)
        #expect(value == event)
        #expect(sent == #"{"created_at":"2025-11-04T10:30:00Z","display_name":"a"}"#)
    }

    @Test("Reads a list in snake case wrapped and flat")
    func list() async throws {
        let element = #"{"created_at":"2025-11-04T10:30:00.25Z","display_name":"a"}"#
        let transport = ScriptedTransport([
            .response(status: 200, body: "[\(element)]"), .response(status: 200, body: #"{"success":true,"data":[\#(element)]}"#),
        ])
        var api = try makeClient(transport)
        api.coding = .snakeCase
        for _ in 0..<2 {
            let events: [Event] = try await api.get("/events")
            #expect(events == [event])
        }
    }

    @Test(
        "The default coding reads dates with and without fractions, in any offset",
        arguments: [
            ("2025-11-04T10:30:00Z", 0), ("2025-11-04T10:30:00.25Z", 0.25), ("2025-11-04T10:30:00.250000Z", 0.25),
            ("2025-11-04T12:30:00+02:00", 0), ("2025-11-04T07:30:00.250-03:00", 0.25), ("2025-11-04 10:30:00Z", 0),
        ]
    )
    func dates(text: String, fraction: Double) async throws {
        let (value, _) = try await roundTrip(.standard, #"{"createdAt":"\#(text)","displayName":"a"}"#)
        #expect(value.createdAt == Date(timeIntervalSince1970: 1_762_252_200 + fraction))
    }

    @Test(
        "A text that is not a date is an unreadable response",
        arguments: ["2025-11-04", "yesterday", "", "2025-11-04T10:30:00"]
    )
    func badDates(text: String) async {
        let error = await failure { _ = try await roundTrip(.standard, #"{"createdAt":"\#(text)","displayName":"a"}"#) }
        #expect(error?.kind == .decoding && error?.details["path"] == "createdAt")
    }

    @Test("Writes and reads dates as the coding defines")
    func otherDates() async throws {
        let year = JSONCoding.Dates.custom(
            decode: { Date(timeIntervalSince1970: 1_762_252_200.25 + Double(try Int(from: $0)) * 0) },
            encode: { _, encoder in try 2_025.encode(to: encoder) }
        )
        let forms: [(JSONCoding.Dates, String)] = [
            (.secondsSince1970, "1762252200.25"), (.millisecondsSince1970, "1762252200250"),
            (.iso8601WithFractionalSeconds, #""2025-11-04T10:30:00.250Z""#), (year, "2025"),
        ]
        for (dates, text) in forms {
            let body = #"{"createdAt":\#(text),"displayName":"a"}"#
            let (value, sent) = try await roundTrip(JSONCoding(dates: dates), body)
            #expect(value == event && sent == body)
        }
    }

    @Test("Uses encoders and decoders of the app unchanged")
    func factories() async throws {
        let coding = JSONCoding {
            let encoder = JSONEncoder()
            (encoder.outputFormatting, encoder.dateEncodingStrategy) = ([.sortedKeys, .prettyPrinted], .deferredToDate)
            return encoder
        } decoder: {
            JSONDecoder()
        }
        let (value, sent) = try await roundTrip(coding, #"{"createdAt":783945000.25,"displayName":"a"}"#)
        #expect(value.createdAt == Date(timeIntervalSinceReferenceDate: 783_945_000.25) && sent.contains("\n"))
    }
}
