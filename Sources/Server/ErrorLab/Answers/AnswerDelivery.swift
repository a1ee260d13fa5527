import ErrorLabContract
import HTTPTypes
import Hummingbird
import NIOCore

/// Sends an answer as slowly, and as far, as it is asked to.
struct AnswerDelivery: Sendable {
    /// The largest number of pieces of a body that comes slowly.
    static let maximumPieces = 20

    /// Ends the writing of a body whose connection is to be broken.
    private struct Broken: Error {}

    let connection: LabConnection

    /// The answer to send.
    func response(_ plain: PlainAnswer, _ answer: LabAnswer) -> Response {
        var sent = plain.body[...]
        var promised = sent.count
        switch (answer.drop, answer.truncate) {
        case (.headers, _): sent = []
        case (.body, let limit): sent = sent.prefix(limit ?? sent.count / 2)
        case (_, let limit?):
            sent = sent.prefix(limit)
            promised = sent.count
        default: break
        }
        var whole = plain
        whole.body = Array(sent)
        guard answer.drop != nil || answer.dribble > 0 else { return whole.response }
        let pieces = Self.pieces(of: whole.body, isSlow: answer.dribble > 0)
        let body = ResponseBody(contentLength: promised) { [connection] writer in
            for piece in pieces {
                try await connection.sleep(milliseconds: answer.dribble)
                try await writer.write(ByteBuffer(bytes: piece))
            }
            guard answer.drop == nil else {
                await connection.drop(answer.close)
                throw Broken()
            }
            try await writer.finish(nil)
        }
        return Response(status: .init(code: plain.status), headers: plain.headers, body: body)
    }

    private static func pieces(of bytes: [UInt8], isSlow: Bool) -> [ArraySlice<UInt8>] {
        guard isSlow, !bytes.isEmpty else { return bytes.isEmpty ? [] : [bytes[...]] }
        let size = (bytes.count + maximumPieces - 1) / maximumPieces
        return stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    }
}
