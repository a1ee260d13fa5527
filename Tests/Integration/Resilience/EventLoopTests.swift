import Hummingbird
import NIOCore
import NIOPosix
import ServerMiddleware
import Testing

@Suite(.timeLimit(.minutes(10))) struct EventLoopTests {
    private static var isOnEventLoop: Bool { MultiThreadedEventLoopGroup.currentEventLoop != nil }

    @Test("A route runs on its connection's event loop, also after its body and a pause")
    func route() async throws {
        let router = ContractRouter(context: BasicContractContext.self)
        router.post("/") { request, _ -> Response in
            let atFirst = Self.isOnEventLoop
            let body = try await request.body.collect(upTo: 1_024)
            let behindBody = Self.isOnEventLoop
            await Task.yield()
            let text = "\(atFirst) \(behindBody) \(Self.isOnEventLoop) \(body.readableBytes)"
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
        try await withApplication { logger, listening in
            Application(
                router: router,
                server: .contractHTTP1(),
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { listening($0.localAddress?.port ?? 0) },
                logger: logger
            )
        } _: { url in
            let response = try await RawHTTP.send("POST", "/", to: url, body: Array("{}".utf8))
            #expect(response.text == "true true true 2")
        }
    }
}
