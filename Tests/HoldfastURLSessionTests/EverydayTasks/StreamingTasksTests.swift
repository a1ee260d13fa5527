import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Synchronization
import Testing

/// Tasks that app authors search for: each is a few lines of code, which the documentation shows.
@Suite("Everyday tasks: streaming", .timeLimit(.minutes(10))) struct StreamingTasksTests {
    @Test("Run over URLSession", arguments: EverydayTasks.streaming.filter { URLSessionTransport.canPause || !$0.needsPausing })
    func passes(_ task: TransportCheck) async throws {
        try await task.run(URLSessionTransport())
    }

    /// Runs a closure with a client of a server and with the URL of a file of ten bytes.
    private func withClient(
        _ steps: LoopbackServer.Step...,
        body: (APIClient, URL, LoopbackServer) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try Data("0123456789".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let server = try LoopbackServer(steps)
        var api = APIClient(baseURL: try #require(URL(string: server.origin)), timeout: .seconds(600))
        api.attemptTimeout = .seconds(600)
        do {
            try await body(api, file, server)
            await server.close()
        } catch {
            await server.close()
            throw error
        }
    }

    private struct Photo: Decodable { var id: Int }

    @Test("Upload with progress")
    func upload() async throws {
        let seen = Mutex(0.0)
        @Sendable func show(_ fraction: Double) { seen.withLock { $0 = fraction } }
        try await withClient(response("201 X", body: #"{"id":7}"#)) { api, file, server in
            // snippet: task-upload
            let body = RequestBody(file: file, contentType: "image/jpeg")
            let photo: Photo = try await api.upload(.post, "/photos", body) { progress in
                show(progress.fraction ?? 0)
            }
            // snippet end
            #expect(photo.id == 7 && server.received.first?.body == Array("0123456789".utf8))
        }
        #expect(seen.withLock(\.self) == 1)
    }

    @Test("Upload of a stream")
    func uploadStream() async throws {
        try await withClient(response("201 X", body: #"{"id":7}"#)) { api, _, server in
            let recording = AsyncStream<[UInt8]> { stream in
                stream.yield([1, 2])
                stream.yield([3])
                stream.finish()
            }
            // snippet: task-upload-stream
            let body = RequestBody(oneShot: recording, contentType: "audio/aac")
            let photo: Photo = try await api.upload(.post, "/recordings", body)
            // snippet end
            #expect(photo.id == 7 && server.received.first?.body == [1, 2, 3])
        }
    }

    @Test("Download with progress and resume")
    func download() async throws {
        let seen = Mutex(0.0)
        @Sendable func show(_ fraction: Double) { seen.withLock { $0 = fraction } }
        try await withClient(response("200 X", ["ETag: \"1\""], body: "film")) { api, target, _ in
            // snippet: task-download
            try await api.download("/films/7", to: target) { progress in
                show(progress.fraction ?? 0)
            }
            // snippet end
            #expect(try String(contentsOf: target, encoding: .utf8) == "film")
        }
        #expect(seen.withLock(\.self) == 1)
    }

    @Test("Multipart form")
    func multipart() async throws {
        try await withClient(response("201 X", body: #"{"id":7}"#)) { api, file, server in
            // snippet: task-multipart
            var form = MultipartForm()
            form.append("Ana", name: "name")
            form.append(file: file, name: "photo", filename: "photo.jpg", contentType: "image/jpeg")
            let photo: Photo = try await api.upload(.post, "/photos", form.body)
            // snippet end
            let body = String(decoding: server.received.first?.body ?? [], as: UTF8.self)
            #expect(photo.id == 7 && body.contains("0123456789") && body.contains("Ana"))
        }
    }

    @Test("A response in chunks")
    func stream() async throws {
        var received: [UInt8] = []
        func parse(_ chunk: [UInt8]) { received += chunk }
        try await withClient(response("200 X", body: "export")) { api, _, _ in
            // snippet: task-stream
            let export = try await api.stream(.get, "/exports/7")
            for try await chunk in export { parse(chunk) }
            // snippet end
        }
        #expect(received == Array("export".utf8))
    }

    @Test("Lines")
    func lines() async throws {
        var seen: [String] = []
        func show(_ line: String) { seen.append(line) }
        try await withClient(response("200 X", body: "uno\r\ndos")) { api, _, _ in
            // snippet: task-lines
            for try await line in try await api.lines("/logs/today") { show(line) }
            // snippet end
        }
        #expect(seen == ["uno", "dos"])
    }

    @Test("Server-sent events")
    func events() async throws {
        var seen: [String] = []
        func show(_ text: String) { seen.append(text) }
        let head = head("200 X", ["Content-Type: text/event-stream"])
        let events = "retry: 10\n\nevent: order\nid: 1\ndata: 7\n\nevent: other\ndata: 8\n\n"
        try await withClient(.respond(head + events), response("204 X")) { api, _, server in
            // snippet: task-events
            for try await event in api.events("/notifications") where event.type == "order" {
                show(event.data)
            }
            // snippet end
            #expect(server.received.map { $0.header("Last-Event-ID") } == [nil, "1"])
        }
        #expect(seen == ["7"])
    }
}

/// `MEASURE_MEMORY=1 swift test --traits Server --filter HoldfastURLSessionTests.StreamingMemoryTests`; no other test may run in the
/// process.
@Suite(
    "Memory in use while 200 MB are transferred over URLSession",
    .enabled(if: ProcessInfo.processInfo.environment["MEASURE_MEMORY"] != nil)
) struct StreamingMemoryTests {
    @Test("Grows by 8 MB at most")
    func flat() async throws {
        let growth = try #require(try await EverydayTasks.memoryGrowth(URLSessionTransport()))
        print("upload: \(growth.upload / 1_024) KB, download: \(growth.download / 1_024) KB")
        #expect(growth.upload <= 8 * 1_024 * 1_024 && growth.download <= 8 * 1_024 * 1_024, "\(growth)")
    }
}
