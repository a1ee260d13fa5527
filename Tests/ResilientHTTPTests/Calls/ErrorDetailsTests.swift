import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite("Error bodies of the app's own") struct ErrorDetailsTests {
    private struct Shortage: Decodable, Equatable {
        var missingAmount: Int
        var dueDate: Date?
    }

    private func refusal(_ body: String, status: Int = 409, coding: JSONCoding = .snakeCase) async throws -> APIError {
        var api = try makeClient(ScriptedTransport([.response(status: status, body: body)]))
        api.coding = coding
        return try #require(await failure { let _: Activity = try await api.get("/a") })
    }

    @Test(
        "The details are decoded with the client's coding, wrapped and flat",
        arguments: [
            #"{"missing_amount":5}"#, #"{"error":{"missing_amount":5}}"#, #"{"detail":{"missing_amount":5}}"#,
            #"{"error":{"code":"SHORT","message":"m","details":{"missing_amount":5}}}"#, #"{"details":{"missing_amount":5}}"#,
            #"{"success":false,"data":{"missing_amount":5},"error":"SHORT"}"#, #"{"error":"SHORT","missing_amount":5}"#,
        ]
    )
    func wrapped(body: String) async throws {
        #expect(try await refusal(body).details(as: Shortage.self) == Shortage(missingAmount: 5))
    }

    @Test("Reads dates of the details as the coding defines")
    func dates() async throws {
        let body = #"{"missingAmount":5,"dueDate":1762252200000}"#
        let shortage: Shortage = try await refusal(body, coding: JSONCoding(dates: .millisecondsSince1970)).details()
        #expect(shortage.dueDate == Date(timeIntervalSince1970: 1_762_252_200))
    }

    @Test("A success that refuses has details, too")
    func refusedSuccess() async throws {
        let error = try await refusal(#"{"success":false,"error":{"missing_amount":5}}"#, status: 200)
        #expect(try error.details(as: Shortage.self).missingAmount == 5)
    }

    @Test("A body without such a value is a decoding error", arguments: ["", "{}", "<html>", #"{"missing_amount":"5"}"#, "[]"])
    func absent(body: String) async throws {
        let error = try await refusal(body)
        #expect(throws: DecodingError.self) { try error.details(as: Shortage.self) }
    }

    @Test("An error without a response has no body and no details")
    func noResponse() async throws {
        let transport = ScriptedTransport([.failure(TransportError(.timeout, message: "", wasSent: true))])
        let api = try makeClient(transport)
        let error = try #require(await failure { let _: Activity = try await api.get("/a") })
        #expect(error.body.isEmpty)
        #expect(throws: DecodingError.self) { try error.details(as: Shortage.self) }
    }

    @Test("Stores the raw body up to 64 KiB")
    func bounded() async throws {
        let body = #"{"missing_amount":5}"#
        #expect(try await refusal(body).body == Array(body.utf8))
        let long = String(repeating: "x", count: 100_000)
        #expect(try await refusal(long).body.count == 65_536)
    }

    @Test("The raw body is in no description and in no log")
    func hidden() async throws {
        let log = CapturedLog()
        var api = try makeClient(ScriptedTransport([.response(status: 409, body: #"{"secret_word":"xyzzy"}"#)]))
        api.listeners = [LogListener(log.logger)]
        let error = try #require(await failure { let _: Activity = try await api.get("/a") })
        #expect(!error.body.isEmpty)
        #expect(!"\(error) \(String(reflecting: error)) \(error.localizedDescription)".contains("xyzzy"))
        #expect(!log.lines.isEmpty && !log.lines.contains { "\($0)".contains("xyzzy") })
    }
}
