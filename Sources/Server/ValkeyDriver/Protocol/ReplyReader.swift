import CHiredis

/// Decodes replies from bytes that arrive in chunks of any size. Not thread-safe.
///
/// The reader uses the codec of hiredis (RESP 2). To limit its memory, the reader limits the size of a reply and the number of elements of
/// an array. Without the second limit, a server could announce billions of elements with a few bytes.
final class ReplyReader {
    private let reader: UnsafeMutablePointer<redisReader>
    private let mostBytes: Int
    /// The bytes since the last complete reply.
    private var pending = 0

    /// The largest number of elements in one array. hiredis allocates memory for all elements before they arrive.
    static let mostElements = 65_536

    /// Creates a reader.
    /// - Parameter mostBytes: The largest size of one reply, in bytes.
    init(mostBytes: Int = 1 << 20) {
        guard let reader = redisReaderCreate() else { preconditionFailure("no memory for a reader of replies") }
        reader.pointee.fn = Self.boundedFunctions
        self.reader = reader
        self.mostBytes = mostBytes
    }

    deinit { redisReaderFree(reader) }

    /// Adds received bytes. The reader copies them.
    /// - Throws: `ValkeyError.protocolViolation` if there is not enough memory, or if the reader has failed before.
    func feed(_ bytes: UnsafeRawBufferPointer) throws(ValkeyError) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        pending += bytes.count
        let status = redisReaderFeed(reader, base.assumingMemoryBound(to: CChar.self), bytes.count)
        guard status == REDIS_OK else { throw .protocolViolation }
    }

    /// Returns the next complete reply; `nil` if more bytes must arrive first.
    /// - Throws: `ValkeyError.protocolViolation` if the bytes are not a reply, or if the reply is too large. After that, the reader can't
    ///   be used.
    func next() throws(ValkeyError) -> ValkeyReply? {
        var reply: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &reply) == REDIS_OK else { throw .protocolViolation }
        guard let reply else {
            guard pending <= mostBytes else { throw .protocolViolation }
            return nil
        }
        defer { freeReplyObject(reply) }
        pending = reader.pointee.len - reader.pointee.pos
        return try ValkeyReply(reply.assumingMemoryBound(to: redisReply.self).pointee)
    }

    /// The functions of hiredis that create replies.
    private static let functions = {
        let reader = redisReaderCreate()
        defer { redisReaderFree(reader) }
        guard let functions = reader?.pointee.fn.pointee else { preconditionFailure("no memory for a reader of replies") }
        return functions
    }()

    /// The functions of hiredis that create replies, with a limit for the length of arrays. No thread writes to them after their creation.
    private nonisolated(unsafe) static let boundedFunctions = {
        let bounded = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
        bounded.initialize(to: functions)
        bounded.pointee.createArray = { task, count in
            count <= ReplyReader.mostElements ? ReplyReader.functions.createArray(task, count) : nil
        }
        return bounded
    }()
}

extension ValkeyReply {
    /// Copies a reply of hiredis. The recursion is bounded, because hiredis limits the depth of nested arrays.
    fileprivate init(_ reply: redisReply) throws(ValkeyError) {
        switch reply.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS:
            self = .text(Array(UnsafeRawBufferPointer(start: reply.str, count: reply.len)))
        case REDIS_REPLY_INTEGER:
            self = .integer(Int(reply.integer))
        case REDIS_REPLY_NIL:
            self = .null
        case REDIS_REPLY_ERROR:
            self = .error(String(decoding: UnsafeRawBufferPointer(start: reply.str, count: reply.len), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            var elements: [ValkeyReply] = []
            for element in UnsafeBufferPointer(start: reply.element, count: reply.elements) {
                guard let element else { throw .protocolViolation }
                elements.append(try ValkeyReply(element.pointee))
            }
            self = .array(elements)
        default:
            throw .protocolViolation
        }
    }
}
