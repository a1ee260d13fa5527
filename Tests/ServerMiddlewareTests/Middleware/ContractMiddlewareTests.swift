import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Hummingbird
import InMemoryLogging
import Logging
import NIOCore
import RateLimiting
import ServerMiddleware
import Testing

/// Compares ``ContractMiddleware`` with the four middlewares that it replaces.
@Suite struct ContractMiddlewareTests {
    /// A router with a limit of two requests per client.
    private func router(
        merged: Bool,
        decides moment: RateLimitMiddleware<LimitedContext>.Moment,
        keyed: Bool
    ) -> Router<LimitedContext> {
        let limits = RateLimits(store: JointRateLimiter([.rule("ip", 2), .rule("key", 9)], clock: ManualClock()))
        let renderer = ContractErrorRenderer(now: { Date(timeIntervalSince1970: 0) })
        let sources: [RateLimitSource<LimitedContext>] =
            keyed ? [.client("ip"), .key("key") { request, _ in request.uri.path }] : [.client("ip")]
        let limit = RateLimitMiddleware(limits, sources, decides: moment)
        let router = Router(context: LimitedContext.self)
        if merged {
            router.add(middleware: ContractMiddleware(renderer: renderer, limit: limit))
        } else {
            router.add(middleware: RequestIDMiddleware())
            router.add(middleware: RateLimitFieldsMiddleware())
            router.add(middleware: ContractErrorMiddleware(renderer: renderer))
            router.add(middleware: limit)
        }
        router.get("/") { _, context in
            context.logger.info("Line")
            return "found"
        }
        router.get("/error") { _, _ -> String in throw ContractError(.authTokenInvalid) }
        return router
    }

    @Test("Responds and logs like the four middlewares", arguments: [true, false])
    func same(keyed: Bool) async throws {
        for moment in [RateLimitMiddleware<LimitedContext>.Moment.atOnce, .inRoute] {
            var results: [[String]] = []
            for merged in [true, false] {
                let logs = InMemoryLogHandler()
                let router = router(merged: merged, decides: moment, keyed: keyed)
                let responder = LimitedResponder(responder: router.buildResponder(), logs: logs)
                var result: [String] = []
                for path in ["/", "/error", "/", "/unknown"] {
                    let response = try await responder.response(to: .make(.get, path, headers: [.requestID: "my-id"]))
                    #expect(response[header: "X-Request-Id"] == "my-id")
                    let headers = response.headers.map { "\($0.name.canonicalName): \($0.value)" }
                    result += ["\(response.status.code)", headers.joined(separator: "\n"), response.text]
                }
                for entry in logs.entries {
                    let metadata = entry.metadata.map { "\($0.key)=\($0.value)" }.sorted()
                    result.append("\(entry.level) \(entry.message) \(metadata)")
                }
                results.append(result)
            }
            #expect(results[0] == results[1])
            #expect(results[0].contains("429") == (moment == .atOnce))
            #expect(results[0].contains { $0.contains("ratelimit-policy: \"ip\";q=2;w=60") })
        }
    }

    @Test("Creates an id for a request without one")
    func newID() async throws {
        let router = router(merged: true, decides: .atOnce, keyed: false)
        let responder = LimitedResponder(responder: router.buildResponder(), logs: InMemoryLogHandler())
        let id = try #require(try await responder.response(to: .make(.get, "/"))[header: "X-Request-Id"])
        #expect(UUID(uuidString: id) != nil)
    }
}
