/// What came back when an association file was asked for, without following a redirect.
public struct Retrieval: Hashable, Sendable {
    /// The address that was asked.
    public var url: String
    /// The status of the answer.
    public var status: Int
    /// The `Content-Type` of the answer.
    public var contentType: String?
    /// The `Location` of the answer.
    public var location: String?
    /// The body, uncompressed.
    public var bytes: [UInt8]

    /// Creates the facts of a retrieval.
    public init(url: String, status: Int, contentType: String?, location: String?, bytes: [UInt8]) {
        self.url = url
        self.status = status
        self.contentType = contentType
        self.location = location
        self.bytes = bytes
    }

    /// The domain that the file speaks for; `nil` if ``url`` names none.
    public var domain: String? {
        SplitLink(url).flatMap { $0.host.isEmpty ? nil : $0.host }
    }
}
