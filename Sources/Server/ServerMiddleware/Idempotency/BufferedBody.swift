import HTTPTypes
import Hummingbird

/// Gathers the body of an answer in memory.
final class BufferedBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ buffer: ByteBuffer) {
        self.buffer.writeImmutableBuffer(buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
