import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A TLS server on the loopback with an untrusted certificate. It counts requests and responds to each with an empty 200.
final class UntrustedServer: Sendable {
    let port: Int
    private let channel: any Channel
    private let requests: Requests

    /// The number of connections with at least one byte after the handshake.
    var requestCount: Int { requests.count.withLock { $0 } }

    private final class Requests: Sendable {
        let count = Mutex(0)
    }

    private final class RequestCounter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let requests: Requests

        init(_ requests: Requests) {
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            requests.count.withLock { $0 += 1 }
            let response = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            context.writeAndFlush(wrapOutboundOut(response), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }

    init() async throws {
        let certificate = try NIOSSLCertificate(bytes: Array(Self.certificate.utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(Self.key.utf8), format: .pem)
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        )
        let requests = Requests()
        self.requests = requests
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(NIOSSLServerHandler(context: tls), RequestCounter(requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    func close() async throws {
        try await channel.close()
    }

    /// Self-signed for 127.0.0.1, until 2126. The key protects nothing.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBkDCCATagAwIBAgIUZOLLxvB3uuKNXlH5jr5Ozvio+MQwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMTE0MzIxN1oYDzIxMjYxMDI4
        MTQzMjE3WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASMDDDp7M5X0yv5271aP+EfZyqjG08QIQW7B1eI4tqSYmDX1OmoxXxF
        a6xttakgiCEPqm4pfDV0c/ZKRMx68e1So2QwYjAdBgNVHQ4EFgQUboV7N18f06WU
        kSR/uNm68R901LYwHwYDVR0jBBgwFoAUboV7N18f06WUkSR/uNm68R901LYwDwYD
        VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
        IQDtFL32UjuG/e3sOMIqEmnoH/ao9JOf9sa15ZAHtOP7SQIgJifDoJXBDYfiExL0
        OSIXoTDk0pUzs1eFRhZCNwD7TIk=
        -----END CERTIFICATE-----
        """
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBMTF0IxnWyzmc2B8
        oSysfkUNEt6Wkj1RY/mlxIINvLmhRANCAASMDDDp7M5X0yv5271aP+EfZyqjG08Q
        IQW7B1eI4tqSYmDX1OmoxXxFa6xttakgiCEPqm4pfDV0c/ZKRMx68e1S
        -----END PRIVATE KEY-----
        """
}
