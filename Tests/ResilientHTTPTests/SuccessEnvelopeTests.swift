import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite struct SuccessEnvelopeTests {
    private func get<Value: Decodable>(_ body: String, status: Int = 200) async throws -> Value {
        let step = ScriptedTransport.Step.response(status: status, headers: [.contentType: "text/html"], body: body)
        return try await makeClient(ScriptedTransport([step])).get("/activities")
    }

    @Test(
        "Reads a model wrapped and flat, whatever the content type claims",
        arguments: [
            #"{"id":1,"name":"a"}"#, #"{"success":true,"data":{"id":1,"name":"a"}}"#, #"{"success":true,"id":1,"name":"a"}"#,
            #"{"success":true,"data":{"id":1,"name":"a"},"id":2,"name":"b"}"#,
            #"{"success":true,"data":{"x":0},"id":1,"name":"a"}"#, #"{"success":true,"data":null,"id":1,"name":"a"}"#,
            #"{"data":{"id":2},"id":1,"name":"a"}"#, #"{"valid":true,"id":1,"name":"a"}"#, #"{"valid":false,"id":1,"name":"a"}"#,
            #"{"success":"false","id":1,"name":"a"}"#, #"{"success":null,"id":1,"name":"a"}"#, " \n{\"id\":1,\"name\":\"a\"}\n",
        ]
    )
    func object(body: String) async throws {
        let activity: Activity = try await get(body)
        #expect(activity == Activity(id: 1, name: "a"))
    }

    @Test(
        "Reads a list wrapped and flat",
        arguments: [#"[{"id":1,"name":"a"}]"#, #"{"success":true,"data":[{"id":1,"name":"a"}]}"#]
    )
    func list(body: String) async throws {
        let activities: [Activity] = try await get(body, status: 201)
        #expect(activities == [Activity(id: 1, name: "a")])
    }

    @Test("Reads a single value wrapped and flat", arguments: ["42", #"{"success":true,"data":42}"#])
    func single(body: String) async throws {
        let number: Int = try await get(body)
        #expect(number == 42)
    }

    @Test("Reads a model that has members named like the wrapper's as itself")
    func ownMembers() async throws {
        struct Report: Decodable, Equatable {
            var success: Bool
            var data: String
        }
        let report: Report = try await get(#"{"success":true,"data":"all fine"}"#)
        #expect(report == Report(success: true, data: "all fine"))
    }

    @Test("A refusal under status 200 is an error")
    func refused() async {
        let body = #"{"success":false,"error_code":429,"errors":[{"field":"rate_limit","message":"Slow"}]}"#
        let error = await failure { let _: Activity = try await get(body) }
        #expect(error?.kind == .rateLimited && error?.code == .rateLimited && error?.status == 429)
        #expect(error?.message == "Slow")
    }

    @Test(
        "A refusal is an error even if its body could be decoded as the model",
        arguments: [
            #"{"success":false,"id":1,"name":"a"}"#, #"{"success":false,"data":{"id":1,"name":"a"}}"#,
            #"{"valid":false,"error":"Nope","id":1,"name":"a"}"#, #"{"success":false,"error":"Nope"}"#,
            #"{"success":true,"valid":false,"error":"Nope"}"#,
        ]
    )
    func refusedModel(body: String) async {
        let error = await failure { let _: Activity = try await get(body) }
        #expect(error?.kind == .badRequest && error?.status == 200)
        #expect(error?.message == (body.contains("Nope") ? "Nope" : nil))
    }

    @Test(
        "A refusal in the form of Slack or GraphQL is an error",
        arguments: [
            (#"{"ok":false,"error":"ratelimited"}"#, APIError.Kind.rateLimited, "ratelimited"),
            (#"{"ok":false,"error":"invalid_auth","id":1,"name":"a"}"#, .unauthorized, "invalid_auth"),
            (#"{"data":null,"errors":[{"message":"m","extensions":{"code":"FORBIDDEN"}}]}"#, .forbidden, "FORBIDDEN"),
        ]
    )
    func foreignRefusal(body: String, kind: APIError.Kind, code: String) async {
        let error = await failure { let _: Activity = try await get(body) }
        #expect(error?.kind == kind && error?.code.rawValue == code)
    }

    @Test(
        "Reads a model with members of those names as itself",
        arguments: [
            #"{"ok":false,"id":1,"name":"a"}"#, #"{"ok":true,"error":"x","id":1,"name":"a"}"#,
            #"{"errors":[{"message":"m"}],"id":1,"name":"a"}"#, #"{"data":null,"errors":[],"id":1,"name":"a"}"#,
            #"{"ok":false,"error":{"a":1},"id":1,"name":"a"}"#,
        ]
    )
    func foreignMembers(body: String) async throws {
        let activity: Activity = try await get(body)
        #expect(activity == Activity(id: 1, name: "a"))
    }

    @Test(
        "A body of another type than requested is a decoding error",
        arguments: [
            "", " ", "null", "{", "[]", #"{"id":"1","name":"a"}"#, #"{"success":true,"data":{"id":1}}"#, "text", "[[[[",
        ]
    )
    func garbage(body: String) async {
        let error = await failure { let _: Activity = try await get(body) }
        #expect(error?.kind == .decoding && error?.code == .decodingError && error?.status == 200)
        #expect(error?.retry == .never && error?.underlying != nil)
    }

    @Test(
        "A web page where JSON was expected is not the API's response",
        arguments: ["<!doctype html><p>Log in", " \r\n\t<html>", "<?xml version=\"1.0\"?>", "\u{FEFF}<html>"]
    )
    func page(body: String) async {
        let error = await failure { let _: Activity = try await get(body) }
        #expect(error?.kind == .notAPI && error?.code == .notAPIResponse && error?.status == 200)
        #expect(error?.message == nil, "the page is never shown")
    }
}
