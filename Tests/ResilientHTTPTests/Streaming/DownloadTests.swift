import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@Suite("Downloads to a file") struct DownloadTests {
    private let lost = TransportError(.connectionLost, message: "m", wasSent: true)
    /// A response that continues a download of nine bytes after the third one, and breaks before its first byte.
    private var silent: ScriptedTransport.Step {
        .stream(status: 206, headers: [.contentRange: "bytes 3-8/9"], chunks: [], end: lost)
    }

    private func whole(_ text: String, tag: String? = "\"1\"", length: Int? = nil, end: TransportError? = nil)
        -> ScriptedTransport.Step
    {
        var headers: HTTPFields = [.contentLength: String(length ?? text.utf8.count)]
        headers[.eTag] = tag
        return .stream(status: 200, headers: headers, chunks: [Array(text.utf8)], end: end)
    }

    private func part(_ text: String, range: String, tag: String? = "\"1\"") -> ScriptedTransport.Step {
        var headers: HTTPFields = [.contentRange: range]
        headers[.eTag] = tag
        return .stream(status: 206, headers: headers, chunks: [Array(text.utf8)])
    }

    /// Runs a closure with the URL of a file in an empty folder.
    private func withTarget(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "film.bin"))
    }

    private func client(
        _ steps: [ScriptedTransport.Step],
        _ transport: inout ScriptedTransport?,
        middleware: [any ClientMiddleware] = []
    ) throws -> APIClient {
        let scripted = ScriptedTransport(steps)
        transport = scripted
        let url = try #require(URL(string: "https://api.example.org"))
        let environment = ClientEnvironment(chance: { 0 })
        return APIClient(baseURL: url, transport: scripted, middleware: middleware, environment: environment)
    }

    private func files(_ target: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: target.deletingLastPathComponent().path).sorted()
    }

    @Test("Handles a length that no file can have")
    func hostileLength() async throws {
        try await withTarget { target in
            let hostile = ScriptedTransport.Step.stream(
                status: 206,
                headers: [.contentRange: "bytes 4-8/*", .contentLength: "9223372036854775807", .eTag: "\"1\""],
                chunks: [Array("56789".utf8)]
            )
            _ = try await download([whole("1234", length: 9, end: lost), hostile], to: target, expect: "123456789")
        }
    }

    @Test("Requests the whole resource although the caller names a range")
    func callerRange() async throws {
        try await withTarget { target in
            var transport: ScriptedTransport?
            let api = try client([whole("123")], &transport)
            try await api.download("/film", to: target, headers: [.range: "bytes=100-", .ifRange: "\"0\""])
            #expect(transport?.sent.map { $0.request.headerFields[.range] } == [nil])
            #expect(try String(contentsOf: target, encoding: .utf8) == "123")
        }
    }

    /// Downloads over a script.
    /// - Returns: The `Range` and `If-Range` of each request.
    private func download(
        _ steps: [ScriptedTransport.Step],
        to target: URL,
        path: String = "/film",
        expect text: String?
    ) async throws -> [String] {
        var transport: ScriptedTransport?
        let api = try client(steps, &transport)
        if let text {
            try await api.download(path, to: target)
            #expect(try String(contentsOf: target, encoding: .utf8) == text)
            #expect(try files(target) == ["film.bin"])
        } else {
            let error = await failure { try await api.download(path, to: target) }
            #expect(error != nil)
        }
        return (transport?.sent ?? []).map { sent in
            [sent.request.headerFields[.range], sent.request.headerFields[.ifRange]].map { $0 ?? "-" }.joined(separator: " ")
        }
    }

    @Test("Writes the whole body, reports its progress and replaces the target")
    func plain() async throws {
        try await withTarget { target in
            try Data("old".utf8).write(to: target)
            let seen = Mutex<[TransferProgress]>([])
            var transport: ScriptedTransport?
            let step = ScriptedTransport.Step.stream(
                status: 200,
                headers: [.contentLength: "6"],
                chunks: [[97, 98], [99, 100, 101, 102]]
            )
            let response = try await client([step], &transport).download("/film", to: target) { progress in
                seen.withLock { $0.append(progress) }
            }
            #expect(response.status == .ok)
            #expect(try String(contentsOf: target, encoding: .utf8) == "abcdef")
            #expect(seen.withLock(\.self) == [0, 2, 6].map { TransferProgress(completed: $0, total: 6) })
            #expect(transport?.sent.first?.request.headerFields[.acceptEncoding] == "identity")
            #expect(try files(target) == ["film.bin"])
        }
    }

    @Test("A 304 to a condition of the caller changes no file")
    func notModified() async throws {
        try await withTarget { target in
            try Data("old".utf8).write(to: target)
            let never = whole("abc", length: 9, end: TransportError(.untrusted, message: "m", wasSent: true))
            _ = try await download([never], to: target, expect: nil)
            var transport: ScriptedTransport?
            let api = try client([.response(status: 304, headers: [.eTag: "\"0\""])], &transport)
            let response = try await api.download("/film", to: target, headers: [.ifNoneMatch: "\"0\""])
            #expect(response.isNotModified && transport?.sent.count == 1)
            #expect(try String(contentsOf: target, encoding: .utf8) == "old")
            #expect(try files(target) == ["film.bin", "film.bin.partial", "film.bin.partial.origin"])
        }
    }

    @Test("Continues automatically after a lost connection, with range and validator")
    func continues() async throws {
        try await withTarget { target in
            let steps = [
                whole("abc", length: 9, end: lost), part("def", range: "bytes 3-8/9"), part("ghi", range: "bytes 6-8/9"),
            ]
            let sent = try await download(
                [
                    steps[0],
                    .stream(status: 206, headers: [.contentRange: "bytes 3-8/9"], chunks: [Array("def".utf8)], end: lost),
                    steps[2],
                ],
                to: target,
                expect: "abcdefghi"
            )
            #expect(sent == ["- -", "bytes=3- \"1\"", "bytes=6- \"1\""])
        }
    }

    @Test("Continues in a later process at the end of the partial file")
    func later() async throws {
        try await withTarget { target in
            let never = whole("abc", length: 9, end: TransportError(.untrusted, message: "m", wasSent: true))
            _ = try await download([never], to: target, expect: nil)
            #expect(try files(target) == ["film.bin.partial", "film.bin.partial.origin"])
            let sent = try await download([part("def", range: "bytes 3-5/6")], to: target, expect: "abcdef")
            #expect(sent == ["bytes=3- \"1\""])
        }
    }

    @Test("Starts again when the resource or the path has changed")
    func changed() async throws {
        try await withTarget { target in
            let broken = whole("abc", length: 9, end: TransportError(.untrusted, message: "m", wasSent: true))
            _ = try await download([broken], to: target, expect: nil)
            #expect(try await download([whole("new", tag: "\"2\"")], to: target, expect: "new") == ["bytes=3- \"1\""])
            _ = try await download([broken], to: target, expect: nil)
            #expect(try await download([whole("other")], to: target, path: "/other", expect: "other") == ["- -"])
        }
    }

    @Test("Continues an earlier download only in the session that began it", arguments: [false, true])
    func laterSession(isOther: Bool) async throws {
        try await withTarget { target in
            let session = Session.ofAna()
            var transport: ScriptedTransport?
            let broken = whole("abc", length: 9, end: TransportError(.untrusted, message: "m", wasSent: true))
            let rest = isOther ? whole("private") : part("def", range: "bytes 3-5/6")
            let api = try client([broken, rest], &transport).authorized(by: session)
            #expect(await failure { try await api.download("/film", to: target) } != nil)
            if isOther { try await session.setCredentials(.eva) }
            try await api.download("/film", to: target)
            #expect(transport?.sent.map { $0.request.headerFields[.range] } == [nil, isOther ? nil : "bytes=3-"])
            #expect(try String(contentsOf: target, encoding: .utf8) == (isOther ? "private" : "abcdef"))
        }
    }

    @Test("Continues an earlier download only with the headers that its response varies by", arguments: [false, true])
    func laterLanguage(isOther: Bool) async throws {
        try await withTarget { target in
            let head: HTTPFields = [
                .lastModified: "Tue, 04 Nov 2025 10:30:00 GMT", .date: "Tue, 04 Nov 2025 10:30:01 GMT", .contentLength: "6",
                .vary: "Accept-Language",
            ]
            let end = TransportError(.untrusted, message: "m", wasSent: true)
            let broken = ScriptedTransport.Step.stream(status: 200, headers: head, chunks: [Array("abc".utf8)], end: end)
            var transport: ScriptedTransport?
            let rest = isOther ? whole("spanish") : part("def", range: "bytes 3-5/6", tag: nil)
            var api = try client([broken, rest], &transport)
            let error = await failure { try await api.download("/film", to: target) }
            #expect(error != nil)
            if isOther { api.language = .spanish }
            try await api.download("/film", to: target)
            #expect(transport?.sent.map { $0.request.headerFields[.range] } == [nil, isOther ? nil : "bytes=3-"])
            #expect(try String(contentsOf: target, encoding: .utf8) == (isOther ? "spanish" : "abcdef"))
        }
    }

    @Test("Starts again with another cookie that Vary names, and stores no cookie")
    func laterCookie() async throws {
        try await withTarget { target in
            let head: HTTPFields = [.eTag: "\"v1\"", .contentLength: "6", .vary: "Cookie"]
            let end = TransportError(.untrusted, message: "m", wasSent: true)
            let broken = ScriptedTransport.Step.stream(status: 200, headers: head, chunks: [Array("abc".utf8)], end: end)
            var transport: ScriptedTransport?
            let api = try client([broken, whole("second")], &transport)
            _ = await failure { try await api.download("/film", to: target, headers: [.cookie: "sid=ana"]) }
            let origin = target.appendingPathExtension("partial.origin")
            #expect(try !String(contentsOf: origin, encoding: .utf8).contains("ana"))
            try await api.download("/film", to: target, headers: [.cookie: "sid=eva"])
            #expect(transport?.sent.map { $0.request.headerFields[.range] } == [nil, nil])
            #expect(try String(contentsOf: target, encoding: .utf8) == "second")
        }
    }

    @Test("Sends no attempt with the token of a user who signs in during the download")
    func signInMeanwhile() async throws {
        try await withTarget { target in
            let session = Session.ofAna()
            var transport: ScriptedTransport?
            let steps = [whole("abc", length: 9, end: lost), part("defghi", range: "bytes 3-8/9")]
            let layer = beforeSecondRequest { try await session.setCredentials(.eva) }
            let api = try client(steps, &transport, middleware: [layer]).authorized(by: session)
            let error = await failure { try await api.download("/film", to: target) }
            #expect(error?.kind == .unauthorized && error?.recovery == .dismiss)
            #expect(transport?.sent.map { $0.request.headerFields[.authorization] } == ["Bearer ana"])
        }
    }

    @Test("A download whose first attempt signs a user in belongs to this session", arguments: [false, true])
    func signInAtPrompt(isOther: Bool) async throws {
        try await withTarget { target in
            let ana = Credentials(accessToken: "ana", refreshToken: nil, userID: "ana")
            let session = Session(store: MemoryCredentialStore(), refresh: { _ in .eva }, prompt: { ana })
            var transport: ScriptedTransport?
            let rest = part("defghi", range: "bytes 3-8/9")
            let steps: [ScriptedTransport.Step] = [.response(status: 401), whole("abc", length: 9, end: lost), rest]
            let second: [any ClientMiddleware] = isOther ? [beforeSecondRequest { try await session.setCredentials(.eva) }] : []
            let api = try client(steps, &transport, middleware: second).authorized(by: session)
            let error = await failure { try await api.download("/film", to: target) }
            #expect(error?.kind == (isOther ? APIError.Kind.unauthorized : nil))
            let tokens: [String?] = isOther ? [nil, "Bearer ana"] : [nil, "Bearer ana", "Bearer ana"]
            #expect(transport?.sent.map { $0.request.headerFields[.authorization] } == tokens)
            #expect(isOther || (try? String(contentsOf: target, encoding: .utf8)) == "abcdefghi")
        }
    }

    @Test("Starts again if a user signs in while a file without a session continues")
    func signInWhenResuming() async throws {
        try await withTarget { target in
            let ana = Credentials(accessToken: "ana", refreshToken: nil, userID: "ana")
            let session = Session(store: MemoryCredentialStore(), refresh: { _ in .eva }, prompt: { ana })
            var transport: ScriptedTransport?
            let steps: [ScriptedTransport.Step] = [
                whole("abc", length: 9, end: lost), .response(status: 401), part("defghi", range: "bytes 3-8/9"),
                whole("anas film"),
            ]
            let api = try client(steps, &transport).authorized(by: session)
            try await api.download("/film", to: target)
            #expect(try String(contentsOf: target, encoding: .utf8) == "anas film")
            #expect(transport?.sent.map { $0.request.headerFields[.range] } == [nil, "bytes=3-", "bytes=3-", nil])
        }
    }

    @Test(
        "Starts again when the server sends another part or version than requested",
        arguments: [("bytes 2-5/6", "\"1\""), ("bytes 3-5/6", "\"2\""), ("nonsense", "\"1\""), ("bytes 3-6/6", "\"1\"")]
    )
    func mismatch(range: String, tag: String) async throws {
        try await withTarget { target in
            let steps = [whole("abc", length: 9, end: lost), part("def", range: range, tag: tag), whole("abcdef")]
            let sent = try await download(steps, to: target, expect: "abcdef")
            #expect(sent == ["- -", "bytes=3- \"1\"", "- -"])
        }
    }

    @Test("Starts again after a lost connection if there is no strong validator")
    func weak() async throws {
        let date = "Tue, 04 Nov 2025 10:30:00 GMT"
        let strong: HTTPFields = [.lastModified: date, .date: "Tue, 04 Nov 2025 10:30:01 GMT", .contentLength: "6"]
        let same: HTTPFields = [.lastModified: date, .date: date, .contentLength: "6"]
        for (headers, validator) in [
            ([.eTag: "W/\"1\"", .contentLength: "6"], nil), ([.eTag: "\"1\"", .contentEncoding: "gzip"], nil), (same, nil),
            (strong, date),
        ]
            as [(HTTPFields, String?)]
        {
            try await withTarget { target in
                let first = ScriptedTransport.Step.stream(status: 200, headers: headers, chunks: [[97]], end: lost)
                let second = validator == nil ? whole("abcdef") : part("bcdef", range: "bytes 1-5/6", tag: nil)
                let sent = try await download([first, second], to: target, expect: "abcdef")
                #expect(sent == ["- -", validator.map { "bytes=1- \($0)" } ?? "- -"])
            }
        }
    }

    @Test("Accepts a complete partial file, and removes one longer than the resource")
    func outOfRange() async throws {
        for (total, steps) in [("bytes */3", []), ("bytes */2", [whole("ab")])] as [(String, [ScriptedTransport.Step])] {
            try await withTarget { target in
                let refused = ScriptedTransport.Step.response(status: 416, headers: [.contentRange: total])
                let text = steps.isEmpty ? "abc" : "ab"
                _ = try await download([whole("abc", length: 9, end: lost), refused] + steps, to: target, expect: text)
            }
        }
    }

    @Test("Gives up when its retries bring no new byte, and keeps the partial file")
    func givesUp() async throws {
        try await withTarget { target in
            let sent = try await download(
                [whole("abc", length: 9, end: lost)] + Array(repeating: silent, count: 9),
                to: target,
                expect: nil
            )
            #expect(sent.count == 1 + 3)
            #expect(try files(target) == ["film.bin.partial", "film.bin.partial.origin"])
        }
    }

    @Test("Without its own policy, an endpoint uses that of the client's retry middleware")
    func clientPolicy() async throws {
        try await withTarget { target in
            var transport: ScriptedTransport?
            let steps = [whole("abc", length: 9, end: lost)] + Array(repeating: silent, count: 9)
            let retry = RetryMiddleware(RetryPolicy(maximumRetries: 1))
            let api = try client(steps, &transport, middleware: [retry])
            let error = await failure { try await api.download("/film", to: target) }
            #expect(error?.kind == .network && transport?.sent.count == 1 + 1)
        }
    }

    @Test("Never accepts a body shorter than announced as complete")
    func short() async throws {
        try await withTarget { target in
            var transport: ScriptedTransport?
            var policies = EndpointPolicies()
            policies.set(EndpointPolicy(retry: .never), for: "/film")
            var api = try client([whole("abc", length: 9)], &transport)
            api.policies = policies
            let error = await failure { try await api.download("/film", to: target) }
            #expect(error?.kind == .network && !FileManager.default.fileExists(atPath: target.path))
        }
    }

    @Test("Reports the error of the file system")
    func disk() async throws {
        var transport: ScriptedTransport?
        let target = URL(fileURLWithPath: "/nonexistent/folder/film.bin")
        let error = await failure { try await client([whole("abc")], &transport).download("/film", to: target) }
        #expect(error != nil && error?.kind != .network)
    }
}
