import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServerMiddleware
import StrictJSON
import Synchronization
import Testing

@Suite struct RequestIDMiddlewareTests {
    private func response(id: String?) async throws -> CollectedResponse {
        let router = Router<MemoryContext>.make()
        router.get("/") { _, context in context.id }
        var headers: HTTPFields = [:]
        headers[.requestID] = id
        return try await router.response(to: .make(.get, "/", headers: headers))
    }

    @Test(
        "Uses a valid id for the response and the log",
        arguments: ["a", "01JC2Z5Q", "7f3e9a52-0f8e-4d6c-9a0e-1b2c3d4e5f60", "A.b_c-9", String(repeating: "x", count: 64)]
    )
    func sane(_ id: String) async throws {
        let response = try await response(id: id)
        #expect(response[header: "X-Request-Id"] == id)
        #expect(response.text == id)
    }

    @Test(
        "Replaces an invalid id",
        arguments: [
            "", " ", "a b", "a\tb", "a;b", "a\"b", "<script>", "ñ", "a/b", "a:b", "a=b", "{}", "%0a", "🐦",
            String(repeating: "x", count: 65), String(repeating: "x", count: 10_000),
        ]
    )
    func insane(_ id: String) async throws {
        let response = try await response(id: id)
        let given = try #require(response[header: "X-Request-Id"])
        #expect(UUID(uuidString: given) != nil)
        #expect(given == given.lowercased())
        #expect(response.text == given)
    }

    @Test("Without an id each request gets a new one")
    func generated() async throws {
        var ids: Set<String> = []
        for _ in 0..<20 { ids.insert(try #require(try await response(id: nil)[header: "X-Request-Id"])) }
        #expect(ids.count == 20)
    }

    @Test("An error has the same id in its header and in its body")
    func errors() async throws {
        for id in ["my-id", nil] {
            var headers: HTTPFields = [:]
            headers[.requestID] = id
            let response = try await Router<MemoryContext>.make().response(to: .make(.get, "/unknown", headers: headers))
            let named = try #require(response[header: "X-Request-Id"])
            #expect(try response.error["request_id"] == .string(named))
            #expect(id == nil || named == id)
            #expect(response.headers[values: .requestID].count == 1)
        }
    }

    @Test("A logger that stores no metadata is supported")
    func silentLogger() async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let context = MemoryContext(source: .init(logger: logger))
        let response = try await Router<MemoryContext>.make().response(to: .make(.get, "/unknown"), context: context)
        #expect(response.status == .notFound)
        let named = try #require(response[header: "X-Request-Id"])
        #expect(try response.error["request_id"] == .string(named))
    }

    @Test("Changes the metadata of the log handler only for a line")
    func deferredMetadata() async throws {
        let changes = Mutex(0)
        let lines = Mutex<[Logger.Metadata]>([])
        let logger = Logger(label: "test") { _ in
            RecordingLogHandler(change: { changes.withLock { $0 += 1 } }, line: { line in lines.withLock { $0.append(line) } })
        }
        let router = Router<MemoryContext>.make()
        router.get("/") { _, context in context.id }
        router.get("/line") { _, context in
            context.logger.info("Line")
            return context.id
        }
        router.get("/metadata") { _, context in
            var context = context
            context.logger[metadataKey: "order"] = "7"
            context.logger.info("Line")
            return context.id
        }
        func response(_ path: String) async throws -> CollectedResponse {
            let context = MemoryContext(source: .init(logger: logger))
            return try await router.response(to: .make(.get, path, headers: [.requestID: "my-id"]), context: context)
        }

        #expect(try await response("/").text == "my-id")
        #expect(changes.withLock(\.self) == 0)
        #expect(try await response("/line").text == "my-id")
        #expect(changes.withLock(\.self) == 1)
        #expect(try await response("/metadata").text == "my-id")
        #expect(lines.withLock(\.self) == [["hb.request.id": "my-id"], ["hb.request.id": "my-id", "order": "7"]])
    }

    @Test("A route can read, replace and remove the id in the logger's metadata")
    func changedMetadata() async throws {
        let router = Router<MemoryContext>.make()
        router.get("/") { _, context in
            var logger = context.logger
            #expect(logger.handler.metadata == ["hb.request.id": "my-id"])
            logger[metadataKey: "hb.request.id"] = "other"
            #expect(logger.handler.metadata == ["hb.request.id": "other"])
            logger[metadataKey: "hb.request.id"] = nil
            #expect(logger.handler.metadata == [:])
            logger = context.logger
            logger.handler.metadata = ["order": "7"]
            #expect(logger[metadataKey: "hb.request.id"] == nil)
            logger.logLevel = .error
            #expect(logger.logLevel == .error)
            return context.id
        }
        #expect(try await router.response(to: .make(.get, "/", headers: [.requestID: "my-id"])).text == "my-id")
    }

    @Test("A hundred thousand new ids differ, and each reads as a UUID")
    func fresh() {
        let ids = (0..<100_000).map { _ in NewRequestID.make() }
        #expect(Set(ids).count == ids.count)
        #expect(ids.prefix(1_000).allSatisfy { UUID(uuidString: $0)?.uuidString.lowercased() == $0 })
    }
}

/// A log handler that reports each change of its metadata, and the metadata of each line.
private struct RecordingLogHandler: LogHandler {
    let change: @Sendable () -> Void
    let line: @Sendable (Logger.Metadata) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:] {
        didSet { change() }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        line(metadata)
    }
}
