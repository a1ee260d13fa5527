/// The body of a request.
public struct RequestBody: Hashable, Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// The value of `Content-Type`.
    public var contentType: String

    /// Creates a body.
    public init(_ bytes: [UInt8], contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }
}
