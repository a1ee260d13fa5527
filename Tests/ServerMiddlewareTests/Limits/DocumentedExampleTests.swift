import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import RateLimiting
import ServerMiddleware
import Testing

// snippet: server-limits
struct AppContext: LimitedRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?
    let limits = RequestLimits()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

func limitedRouter() throws -> Router<AppContext> {
    let limits = RateLimits(
        [
            RateLimitRule(.requests(30, per: .seconds(60), name: "search-ip")),
            RateLimitRule(.requests(1_000, per: .seconds(60), name: "search-global"), isVisible: false),
            RateLimitRule(.requests(3, per: .seconds(3_600), name: "invite-email")),
        ],
        identity: ClientIdentity(trustedProxies: [try IPRange("10.0.0.0/8")])
    )
    let router = Router(context: AppContext.self)
    router.add(middleware: RequestIDMiddleware())
    router.add(middleware: RateLimitFieldsMiddleware())
    router.add(middleware: ContractErrorMiddleware())

    // Decided before the route.
    router.group("search")
        .add(middleware: RateLimitMiddleware(limits, .client("search-ip"), .everybody("search-global")))
        .get { _, _ in "found" }

    // Decided in the route, with a key out of the body.
    router.post("invite") { request, context in
        let invitation = try await RequestReader().read(Invitation.self, from: request)
        try await limits.admit([RateLimitClaim("invite-email", key: invitation.email)], in: context)
        return "invited"
    }
    return router
}

struct Invitation: Decodable {
    let email: String
}
// snippet end

/// Runs the example of `docs/server/rate-limits.md`.
@Suite struct DocumentedExampleTests {
    @Test("Limits a search by address and an invitation by its email address")
    func works() async throws {
        let responder = try limitedRouter().buildResponder()
        func response(to request: Request) async throws -> CollectedResponse {
            let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
            return try await CollectedResponse(try await responder.respond(to: request, context: AppContext(source: source)))
        }
        let found = try await response(to: .make(.get, "/search"))
        #expect(found.text == "found")
        #expect(found[header: "RateLimit-Policy"] == #""search-ip";q=30;w=60"#)
        #expect(found[header: "RateLimit"] == #""search-ip";r=29;t=60"#)
        func invite() async throws -> CollectedResponse {
            let body = RequestBody(buffer: ByteBuffer(string: #"{"email":"ana@example.com"}"#))
            return try await response(to: .make(.post, "/invite", headers: [.contentType: "application/json"], body: body))
        }
        for _ in 0..<3 { #expect(try await invite().text == "invited") }
        let refused = try await invite()
        #expect(refused.status == .tooManyRequests)
        #expect(refused[header: "RateLimit-Policy"] == #""invite-email";q=3;w=3600"#)
    }
}
