import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ResilientHTTP

/// One exchange as its reader holds it: whoever lets go of it before the end closes the request.
final class Reading: Sendable {
    private let reception: Reception
    private let task: HTTPClient.Task<Void>
    /// An engine must not be shut down while an answer is read.
    private let engine: AsyncHTTPClientTransport.Engine

    init(reception: Reception, task: HTTPClient.Task<Void>, engine: AsyncHTTPClientTransport.Engine) {
        self.reception = reception
        self.task = task
        self.engine = engine
    }

    deinit {
        task.cancel()
    }

    /// Waits for the head of the answer.
    func head() async throws -> HTTPResponseHead {
        try await withTaskCancellationHandler {
            try await reception.head()
        } onCancel: {
            task.cancel()
        }
    }

    /// The body: all of it if it is here already, as small ones are, or else read from the connection as it is asked for.
    var body: ResponseBody {
        reception.whole().map { ResponseBody($0) } ?? ResponseBody(AsyncThrowingStream { [self] in try await next() })
    }

    private func next() async throws -> [UInt8]? {
        do {
            return try await withTaskCancellationHandler {
                try await reception.next()
            } onCancel: {
                task.cancel()
            }.map { [UInt8](buffer: $0) }
        } catch {
            throw TransportError(asyncHTTPClient: error, isReceiving: true)
        }
    }
}
