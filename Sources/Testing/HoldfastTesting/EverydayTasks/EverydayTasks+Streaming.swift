import ErrorContract
import Foundation
import HTTPTypes
public import ResilientHTTP
import Synchronization

extension EverydayTasks {
    /// Uploads, downloads, forms, lines and events. Some tasks transfer 24 MB or write temporary files of that size.
    ///
    /// Each task removes its files, also after a failure. The last task needs a transport that can pause sending: see
    /// ``TransportCheck/needsPausing``.
    public static let streaming: [TransportCheck] = [
        TransportCheck("Uploads a file of 24 MB with progress", uploadsFile),
        TransportCheck("Uploads a file again when the server was unavailable", uploadsAgain),
        TransportCheck("Reads the error of a server that refuses an upload early", readsEarlyRefusal),
        TransportCheck("Downloads 24 MB to a file with progress", downloadsFile),
        TransportCheck("Resumes a download automatically after the connection was cut", resumes),
        TransportCheck("Restarts a download if the resource changed since the connection was cut", startsAnew),
        TransportCheck("Sends a form with a file", sendsForm),
        TransportCheck("Reads lines as they arrive", readsLines),
        TransportCheck("Reads events over connections that end, with the id of the last one", readsEvents),
        TransportCheck("Ends a stream that its reader leaves, and keeps the client usable", needsPausing: true, leavesStream),
    ]

    /// The size of the large transfers: 24 MiB, much more than the buffers of a transport and of the sockets.
    private static let size = 24 * 1_024 * 1_024

    /// Runs a closure with the address of a file in a temporary folder, and then removes the folder.
    /// - Parameters:
    ///   - size: The size of the file in bytes. The file is sparse and contains zeros. With a size of 0, the file doesn't exist.
    ///   - body: Uses the file.
    private static func withFile(_ size: Int = 0, _ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "film.bin")
        if size > 0 {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(size))
            try handle.close()
        }
        try await body(file)
    }

    /// Returns a step that sends a complete response and then closes the connection.
    /// - Parameters:
    ///   - status: The code and the phrase, such as `200 OK`.
    ///   - lines: Further header lines, without CRLF.
    ///   - body: The body as UTF-8 text.
    private static func closing(_ status: String, _ lines: [String] = [], body: String = "") -> LoopbackServer.Step {
        TransportCheck.respond(status, lines, body: body)
    }

    /// Requires that a condition holds; see `TransportCheck`.
    /// - Parameters:
    ///   - condition: The condition.
    ///   - otherwise: The observed behavior. The argument is only evaluated for a violation.
    private static func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
        try TransportCheck.expect(condition, otherwise())
    }

    /// Checks that the server receives all bytes. Also checks that the client reports the progress more than 100 times, and that each
    /// reported value is larger than the one before.
    @Sendable private static func uploadsFile(_ transport: any HTTPTransport) async throws {
        let seen = Mutex<[TransferProgress]>([])
        try await withClient(over: transport, storesBodies: false, responding: { _ in closing("200 OK", body: "{}") }) {
            api,
            server in
            try await withFile(size) { file in
                try await api.upload(.put, "/films/7", RequestBody(file: file, contentType: "video/mp4")) { progress in
                    seen.withLock { $0.append(progress) }
                }
            }
            try expect(server.received.map(\.bodyLength) == [size], "received \(server.received.map(\.bodyLength))")
        }
        let steps = seen.withLock(\.self)
        try expect(steps.last?.fraction == 1 && steps.count > 100, "reported \(steps.count) times up to \(steps.suffix(1))")
        try expect(zip(steps, steps.dropFirst()).allSatisfy { $0.completed < $1.completed }, "went back")
    }

    /// Checks that a retry after a 503 sends the file from its beginning.
    @Sendable private static func uploadsAgain(_ transport: any HTTPTransport) async throws {
        let isFirst = Mutex(true)
        let respond: @Sendable (LoopbackServer.Received) -> LoopbackServer.Step = { _ in
            let fails = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return fails ? closing("503 X", ["Retry-After: 0"]) : closing("200 OK", body: "{}")
        }
        try await withClient(over: transport, storesBodies: false, responding: respond) { api, server in
            try await withFile(1_000_000) { try await api.upload(.put, "/films/7", RequestBody(file: $0)) }
            try expect(server.received.map(\.bodyLength) == [1_000_000, 1_000_000], "\(server.received.map(\.bodyLength))")
        }
    }

    /// Checks an upload of 64 MiB to a server that has already responded with 413. The upload must throw the server's error after one
    /// attempt, not the error of a lost connection.
    @Sendable private static func readsEarlyRefusal(_ transport: any HTTPTransport) async throws {
        let body = #"{"error":{"code":"PAYLOAD_TOO_LARGE","message":"At most 1 MB"}}"#
        let head =
            "HTTP/1.1 413 X\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        let server = try LoopbackServer([.early(head + body)])
        let api = APIClient(baseURL: URL(string: server.origin) ?? URL(fileURLWithPath: "/"), transport: transport)
        try await withFile(64 * 1_024 * 1_024) { file in
            do throws(APIError) {
                try await api.upload(.put, "/films/7", RequestBody(file: file))
                throw APIError(.decoding)
            } catch {
                try expect(error.status == 413 && error.attempts == 1, "\(error)")
            }
        }
        await server.close()
    }

    /// Checks that a download has the right size, and that the client reports the progress.
    @Sendable private static func downloadsFile(_ transport: any HTTPTransport) async throws {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n"
        let seen = Mutex<[TransferProgress]>([])
        try await withClient(over: transport, responding: { _ in .generate(head, count: size) }) { api, _ in
            try await withFile { target in
                try await api.download("/films/7", to: target) { progress in seen.withLock { $0.append(progress) } }
                let attributes = try FileManager.default.attributesOfItem(atPath: target.path)
                try expect((attributes[.size] as? NSNumber)?.intValue == size, "\(attributes)")
            }
        }
        let steps = seen.withLock(\.self)
        try expect(steps.last?.fraction == 1 && steps.count > 100, "reported \(steps.count) times up to \(steps.suffix(1))")
    }

    /// The body of the download that breaks off and is resumed, about 450 kB.
    private static let text = (0..<40_000).map { "line \($0)\n" }.joined()

    /// Returns the reaction of a server to each request for a text with an entity tag (`ETag`). The first response breaks off in the middle
    /// of the text. Later responses contain the requested range of the text.
    /// - Parameters:
    ///   - text: The version that the first response contains.
    ///   - other: The version of all later responses, with another tag; `nil` if the text doesn't change.
    /// - Returns: The reaction. The server ignores a requested range if `If-Range` is not the current tag (RFC 9110 §13.1.5).
    private static func film(_ text: String, changesTo other: String?)
        -> @Sendable (LoopbackServer.Received) -> LoopbackServer.Step
    {
        let count = Mutex(0)
        return { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let body = number > 1 ? other ?? text : text
            let tag = number > 1 && other != nil ? "\"2\"" : "\"1\""
            let lines = ["ETag: \(tag)", "Accept-Ranges: bytes"]
            if number == 1 {
                let half = body.utf8.count / 2
                return .reset(TransportCheck.head("200 OK", lines + ["Content-Length: \(body.utf8.count)"]) + body.prefix(half))
            }
            let start = request.header("Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
            guard let start, request.header("If-Range") == tag else { return closing("200 OK", lines, body: body) }
            let range = "Content-Range: bytes \(start)-\(body.utf8.count - 1)/\(body.utf8.count)"
            return closing("206 Partial Content", lines + [range], body: String(body.dropFirst(start)))
        }
    }

    /// Checks that a client resumes a download: the second request has a range, and the file is complete at the end.
    @Sendable private static func resumes(_ transport: any HTTPTransport) async throws {
        try await withClient(over: transport, responding: film(text, changesTo: nil)) { api, server in
            try await withFile { target in
                try await api.download("/film", to: target)
                try expect(try String(contentsOf: target, encoding: .utf8) == text, "the file is another one")
                let ranges = server.received.map { $0.header("Range") }
                try expect(
                    ranges.count == 2 && ranges.last?.map { $0.hasPrefix("bytes=") && $0 != "bytes=0-" } == true,
                    "\(ranges)"
                )
            }
        }
    }

    /// Checks that a client starts a download again if the text changes meanwhile, so that the file never contains bytes of two versions.
    @Sendable private static func startsAnew(_ transport: any HTTPTransport) async throws {
        try await withClient(over: transport, responding: film(text, changesTo: "new")) { api, _ in
            try await withFile { target in
                try await api.download("/film", to: target)
                try expect(try String(contentsOf: target, encoding: .utf8) == "new", "the file is another one")
            }
        }
    }

    /// Checks that the server receives a form with a text and a file: all bytes, and the right `Content-Length`.
    @Sendable private static func sendsForm(_ transport: any HTTPTransport) async throws {
        try await withClient(over: transport, responding: { _ in closing("200 OK", body: "{}") }) { api, server in
            try await withFile(100_000) { file in
                var form = MultipartForm(boundary: "B")
                form.append("Ana", name: "name")
                form.append(file: file, name: "photo", filename: "mañana.jpg", contentType: "image/jpeg")
                try await api.upload(.post, "/profile", form.body)
            }
            let received = server.received.first
            let body = received.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
            try expect(received?.header("Content-Type") == "multipart/form-data; boundary=B", "\(received?.head ?? [])")
            try expect(received?.header("Content-Length") == String(body.utf8.count), "\(received?.head ?? [])")
            try expect(body.contains("name=\"name\"\r\n\r\nAna\r\n--B\r\n"), "sent \(body.prefix(200))")
            try expect(body.contains("filename=\"mañana.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n\0"), "sent \(body.prefix(300))")
            try expect(body.hasSuffix("\0\r\n--B--\r\n") && body.utf8.count > 100_000, "sent \(body.suffix(20))")
        }
    }

    /// Checks that the client returns each line when it arrives, without waiting for the end of the body.
    @Sendable private static func readsLines(_ transport: any HTTPTransport) async throws {
        let head = TransportCheck.head("200 OK", ["Content-Type: text/plain; charset=utf-8", "Transfer-Encoding: chunked"])
        // The body doesn't end, so a reader that waits for the end of the body gets nothing.
        try await withClient(over: transport, responding: { _ in .stall(head + "8\r\nuno\ndos\n\r\n") }) { api, _ in
            var lines = try await api.lines("/log").makeAsyncIterator()
            let first = [try await lines.next(), try await lines.next()]
            try expect(first == ["uno", "dos"], "read \(first)")
        }
    }

    /// Checks that the stream of events reconnects after the server closes or resets the connection, and that a 204 ends the stream.
    @Sendable private static func readsEvents(_ transport: any HTTPTransport) async throws {
        let respond: @Sendable (LoopbackServer.Received) -> LoopbackServer.Step = { request in
            let head = TransportCheck.head("200 OK", ["Content-Type: text/event-stream"])
            switch request.header("Last-Event-ID") {
            case nil: return .respond(head + "retry: 20\n\nid: 1\ndata: uno\n\n")
            case "1": return .reset(head + ": comment\n\nid: 2\nevent: order\ndata: dos\n\n")
            default: return .respond("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            }
        }
        try await withClient(over: transport, responding: respond) { api, server in
            var events: [ServerSentEvent] = []
            for try await event in api.events("/events") { events.append(event) }
            let expected = [ServerSentEvent(data: "uno", id: "1"), ServerSentEvent(type: "order", data: "dos", id: "2")]
            try expect(events == expected, "read \(events)")
            try expect(server.received.count == 3, "sent \(server.received.count) requests")
        }
    }

    /// Checks that the connection closes if the caller releases a stream before its end, and that the client still works.
    @Sendable private static func leavesStream(_ transport: any HTTPTransport) async throws {
        // The size is more than the server can send before the client closes the connection, even on a slow machine.
        let size = 4 * 1_024 * 1_024 * 1_024
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n"
        let respond: @Sendable (LoopbackServer.Received) -> LoopbackServer.Step = { request in
            request.head.first?.contains("/small") == true ? closing("200 OK", body: "{}") : .generate(head, count: size)
        }
        try await withClient(over: transport, responding: respond) { api, server in
            do {
                let stream = try await api.stream(.get, "/large")
                for try await _ in stream { break }
            }
            try await TransportCheck.expectClosed(server)
            try expect(server.written < size, "the server sent it all")
            let body = try await api.send(.get, "/small").body
            try expect(body == Array("{}".utf8), "read \(body)")
        }
    }
}

extension EverydayTasks {
    /// Measures how much memory a transport needs to upload and download a file. The result is the largest resident size of this process
    /// during the transfers, minus the resident size before the transfers.
    ///
    /// The function first transfers 24 MiB, so that the result excludes memory that a transport allocates only once. The function reads
    /// `/proc/self/status`, and resets the largest size through `/proc/self/clear_refs`. Run no other tests in the process at the same
    /// time.
    /// - Parameters:
    ///   - transport: The transport under test.
    ///   - size: The size of the file in bytes. The downloaded file needs this much space on the disk.
    /// - Returns: The growth in bytes; `nil` on all systems except Linux, because only Linux reports these sizes.
    /// - Throws: Errors of the transfers and of the temporary file.
    public static func memoryGrowth(
        _ transport: any HTTPTransport,
        size: Int = 200 * 1_024 * 1_024
    ) async throws -> (upload: Int, download: Int)? {
        try await transfer(transport, size: 24 * 1_024 * 1_024)
        guard let upload = try await growth({ try await transfer(transport, size: size, downloads: false) }),
            let download = try await growth({ try await transfer(transport, size: size, uploads: false) })
        else { return nil }
        return (upload, download)
    }

    /// Uploads and downloads a file.
    /// - Parameters:
    ///   - transport: The transport under test.
    ///   - size: The size of the file in bytes.
    ///   - uploads: Whether the file is uploaded.
    ///   - downloads: Whether the file is downloaded.
    private static func transfer(
        _ transport: any HTTPTransport,
        size: Int,
        uploads: Bool = true,
        downloads: Bool = true
    ) async throws {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n"
        let respond: @Sendable (LoopbackServer.Received) -> LoopbackServer.Step = { request in
            request.head.first?.hasPrefix("PUT") == true ? closing("200 OK", body: "{}") : .generate(head, count: size)
        }
        try await withClient(over: transport, storesBodies: false, responding: respond) { api, _ in
            if uploads { try await withFile(size) { try await api.upload(.put, "/film", RequestBody(file: $0)) } }
            if downloads { try await withFile { try await api.download("/film", to: $0) } }
        }
    }

    /// Returns the growth of the resident memory while a body runs: the largest size during the body, minus the size before.
    /// - Parameter body: The work to measure.
    /// - Returns: The growth in bytes, which can be negative; `nil` if the system doesn't report it.
    private static func growth(_ body: () async throws -> Void) async throws -> Int? {
        // Reset the largest size to the current one.
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        guard let before = status("VmRSS:") else { return nil }
        try await body()
        return status("VmHWM:").map { $0 - before }
    }

    /// Returns a size from a line of `/proc/self/status`. The line `VmRSS:` has the current resident size, and `VmHWM:` the largest one.
    ///
    /// - Parameter name: The beginning of the line, with its colon.
    /// - Returns: The size in bytes; `nil` on systems without the file.
    private static func status(_ name: String) -> Int? {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }
}
