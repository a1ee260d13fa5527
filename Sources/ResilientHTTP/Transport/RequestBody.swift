/// The body of a request.
public struct RequestBody: Hashable, Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// The value of `Content-Type`.
    public var contentType: String
    /// Whether the body must not be sent a second time, such as a one-time code: a call with it is never repeated.
    public var isOneShot: Bool

    /// Creates a body.
    public init(_ bytes: [UInt8], contentType: String, isOneShot: Bool = false) {
        self.bytes = bytes
        self.contentType = contentType
        self.isOneShot = isOneShot
    }
}
