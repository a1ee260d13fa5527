import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import Pages
import ServerMiddleware
import Testing

@testable import AccountRoutes

@Suite struct PageResponderTests {
    @Test("Logs an internal error of a page, but not the cancellation of its request")
    func canceled() async throws {
        let settings = PageTemplates.Settings(appName: "Notes", linkBase: nil, appScheme: nil, minimumPasswordLength: 8)
        let pages = PageResponder(
            templates: try PageTemplates(settings: settings),
            origins: OriginGuard { _ in true },
            localization: Localization()
        )
        let head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1", path: "/reset-password/request")
        let cases: [(error: any Error, isLogged: Bool)] = [(CancellationError(), false), (POSIXError(.EIO), true)]
        for (error, isLogged) in cases {
            let log = CapturedLog()
            let source = ApplicationRequestContextSource(channel: NIOAsyncTestingChannel(), logger: log.logger)
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
            let response = await pages.page(request, BasicContractContext(source: source)) { _ in throw error }
            #expect(response.status == .internalServerError)
            #expect(log.text.contains("Page rendering failed") == isLogged)
        }
    }
}
