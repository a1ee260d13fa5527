import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@testable import HoldfastURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Note: Codable, Hashable {
    var id: Int
    var title: String
}

@Suite("Everyday tasks over URLSession", .timeLimit(.minutes(10))) struct EverydayTasksTests {
    @Test("Calls", arguments: EverydayTasks.calls)
    func does(_ task: TransportCheck) async throws {
        try await task.run(URLSessionTransport())
    }

    @Test("A beginner's first call takes three lines")
    func first() async throws {
        let noteResponse = response("200 OK", body: #"{"id":1,"title":"a"}"#)
        try await withServer(noteResponse) { server in
            let url = try #require(URL(string: server.origin))
            // snippet: task-first-call
            let api = APIClient(baseURL: url)
            let note: Note = try await api.get("/notes/1")
            print(note.title)
            // snippet end
            #expect(note == Note(id: 1, title: "a"))
        }
    }

    @Test("The options of a call are a member or a list")
    func options() async throws {
        struct Order: Codable { var id: Int }
        let order = Order(id: 1)
        let transport = ScriptedTransport([.response(status: 200, body: #"[{"id":1}]"#), .response(status: 204)])
        let api = APIClient(baseURL: try #require(URL(string: "https://api.example.org")), transport: transport)
        // snippet: call-options
        let open: [Order] = try await api.get("/orders?state=open", options: .waitsInLine)
        try await api.post("/orders", order, options: [.idempotent, .timeout(.seconds(10)), .priority(.high)])
        // snippet end
        let sent = try #require(transport.sent.last).request.headerFields
        #expect(open.count == 1 && sent[.priority] == "u=1" && sent[.idempotencyKey] != nil)
    }

    @Test(
        "A request's priority is the priority of its task",
        arguments: [("u=1", URLSessionTask.highPriority), ("u=5", URLSessionTask.lowPriority), ("u=3, i", 0.5), ("x", 0.5)]
    )
    func priority(value: String, priority: Float) throws {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.org", path: "/")
        #expect(request.taskPriority == URLSessionTask.defaultPriority)
        request.headerFields[.priority] = value
        #expect(request.taskPriority == priority)
    }

    @Test("Code for URLSession keeps its structure and gains retries")
    func dataForRequest() async throws {
        let success = response("200 OK", ["X-A: b"], body: "hello")
        try await withServer(response("503 X"), success) { server in
            let url = try #require(URL(string: server.origin))
            // snippet: task-data-for
            let session = HoldfastSession(baseURL: url)
            var request = URLRequest(url: url.appending(path: "notes"))
            request.setValue("text/plain", forHTTPHeaderField: "Accept")
            let (data, response) = try await session.data(for: request)
            // snippet end
            let head = try #require(response as? HTTPURLResponse)
            #expect(data == Data("hello".utf8) && head.statusCode == 200 && head.value(forHTTPHeaderField: "X-A") == "b")
            #expect(head.url == url.appending(path: "notes"))
            #expect(server.received.count == 2)
            #expect(server.received.last?.header("Accept") == "text/plain")
        }
    }
}

/// The documentation shows the standard timeouts. Here they are long, because a busy machine can pause for longer.
extension APIClient {
    fileprivate init(baseURL: URL) {
        self.init(baseURL: baseURL, timeout: .seconds(300))
        attemptTimeout = .seconds(300)
    }
}

extension HoldfastSession {
    fileprivate init(baseURL: URL) {
        self.init(APIClient(baseURL: baseURL))
    }
}

@Suite("A session with the shape of URLSession", .timeLimit(.minutes(10))) struct HoldfastSessionTests {
    private func session(_ server: LoopbackServer, session: Session? = nil) throws -> HoldfastSession {
        let environment = ClientEnvironment(chance: { 0 })
        var client = APIClient(
            baseURL: try #require(URL(string: server.origin + "/v1")),
            timeout: .seconds(300),
            session: session,
            environment: environment
        )
        client.attemptTimeout = .seconds(300)
        return HoldfastSession(client)
    }

    @Test("Returns responses that refuse with their whole bodies instead of throwing")
    func refusals() async throws {
        let long = String(repeating: "x", count: 100_000)
        try await withServer(response("404 X", body: long)) { server in
            let url = try #require(URL(string: server.origin + "/v1/a?b=c%20d"))
            let (data, response) = try await session(server).data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 404 && data.count == 100_000)
            #expect(server.received.first?.head.first == "GET /v1/a?b=c%20d HTTP/1.1")
        }
    }

    @Test("A web page is a response like any other")
    func page() async throws {
        try await withServer(response("200 OK", ["Content-Type: text/html"], body: "<html>")) { server in
            let url = try #require(URL(string: server.origin))
            #expect(try await session(server).data(from: url).0 == Data("<html>".utf8))
        }
    }

    @Test("Sends method, headers and body of a request, and the session's token")
    func request() async throws {
        let signedIn = Session(store: MemoryCredentialStore(Credentials(accessToken: "t", refreshToken: nil))) { _ in
            Credentials(accessToken: "u", refreshToken: nil)
        }
        try await withServer(response("201 X"), response("201 X")) { server in
            var request = URLRequest(url: try #require(URL(string: server.origin + "/v1/a")))
            request.httpMethod = "POST"
            request.httpBody = Data("one".utf8)
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            let session = try self.session(server, session: signedIn)
            _ = try await session.data(for: request)
            _ = try await session.upload(for: request, from: Data("two".utf8))
            #expect(server.received.map { String(decoding: $0.body, as: UTF8.self) } == ["one", "two"])
            for received in server.received {
                #expect(received.head.first == "POST /v1/a HTTP/1.1" && received.header("Content-Type") == "text/plain")
                #expect(received.header("Authorization") == "Bearer t")
            }
        }
    }

    @Test("A failed request throws URLSession's error, with the client's error beneath")
    func failures() async throws {
        try await LoopbackServer.withClosedPort { port in
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            var session = HoldfastSession(APIClient(baseURL: url, timeout: .seconds(300)))
            session.options = [.retry(.never), .attemptTimeout(.seconds(300))]
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.userInfo[NSUnderlyingErrorKey] is APIError)
        }
    }

    @Test("The timeout of a request bounds one attempt")
    func timeout() async throws {
        let server = try LoopbackServer([.stall("")])
        var request = URLRequest(url: try #require(URL(string: server.origin)))
        request.timeoutInterval = 0.3
        var session = try self.session(server)
        session.options = .retry(.never)
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(error?.code == .timedOut)
        await server.close()
    }
}
