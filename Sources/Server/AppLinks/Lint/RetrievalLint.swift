/// Checks that the server serves the file as Apple requires (Apple, "Supporting associated domains"; TN3155).
enum RetrievalLint {
    /// Returns the findings about the address and the response.
    static func findings(in retrieval: Retrieval) -> [AssociationFinding] {
        address(retrieval) + response(retrieval)
    }

    /// Checks the address: https, no port other than 443, and one of the two paths.
    private static func address(_ retrieval: Retrieval) -> [AssociationFinding] {
        var findings: [AssociationFinding] = []
        guard let address = SplitLink(retrieval.url) else { return findings }
        if address.scheme != "https" {
            findings.error(.notHTTPS, retrieval.url, "Apple only uses https; serve the file with a valid certificate.")
        }
        if let port = address.port, port != "443" {
            findings.error(
                .port,
                retrieval.url,
                "Apple requests the file without a port; serve the file on 443 instead of \(port)."
            )
        }
        if address.path == "/apple-app-site-association" {
            findings.warning(.otherPath, retrieval.url, "This is the path of iOS 9; serve the file at \(AssociationFile.path).")
        } else if address.path != AssociationFile.path {
            findings.error(.otherPath, retrieval.url, "Apple ignores this path; serve the file at \(AssociationFile.path).")
        }
        return findings
    }

    /// Checks the status and, for 200, the media type.
    private static func response(_ retrieval: Retrieval) -> [AssociationFinding] {
        if (300..<400).contains(retrieval.status) {
            let target = retrieval.location.map { " to \($0)" } ?? ""
            return [
                .error(
                    .redirect,
                    retrieval.url,
                    "The server redirects\(target); Apple doesn't follow redirects, serve the file at this address."
                )
            ]
        }
        guard retrieval.status == 200 else {
            return [
                .error(
                    .status,
                    retrieval.url,
                    "The server responds with \(retrieval.status); respond with 200 and the file to all clients."
                )
            ]
        }
        return contentType(retrieval)
    }

    /// Returns the finding about the media type. HTML is an error, because HTML is usually an error page. Any other wrong type is only a
    /// warning, because Apple's own servers also send other types.
    private static func contentType(_ retrieval: Retrieval) -> [AssociationFinding] {
        let given = retrieval.contentType ?? ""
        let type = given.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        if type == AssociationFile.contentType { return [] }
        if type == "text/html" || type == "application/xhtml+xml" {
            return [
                .error(.contentType, retrieval.url, "The response is a web page (\(given)); serve the file as application/json.")
            ]
        }
        let found = given.isEmpty ? "no Content-Type" : given
        return [.warning(.contentType, retrieval.url, "The response has \(found); serve the file as application/json.")]
    }
}

/// The response to a request for an association file. The caller makes the request. The caller must not follow redirects, because Apple
/// doesn't follow them.
///
/// ```swift
/// let retrieval = Retrieval(
///     url: "https://example.com/.well-known/apple-app-site-association",
///     status: 200,
///     contentType: "application/json",
///     location: nil,
///     bytes: bytes
/// )
/// let findings = AssociationLint.findings(in: retrieval)
/// ```
public struct Retrieval: Hashable, Sendable {
    /// The requested address, such as `https://example.com/.well-known/apple-app-site-association`.
    public var url: String
    /// The status of the response.
    public var status: Int
    /// The `Content-Type` of the response.
    public var contentType: String?
    /// The `Location` of the response.
    public var location: String?
    /// The body, uncompressed. Apple accepts at most 128 KB.
    public var bytes: [UInt8]
    /// Whether the body is longer than ``bytes``, because the caller has stopped reading. Read more than 128 KB before you stop: a
    /// truncated file counts as too large, and its content isn't checked.
    public var isTruncated: Bool

    /// Creates a retrieval.
    /// - Parameters:
    ///   - url: The requested address.
    ///   - status: The status of the response.
    ///   - contentType: The `Content-Type` of the response; `nil` if there is none.
    ///   - location: The `Location` of a redirect; `nil` if there is none.
    ///   - bytes: The body, uncompressed, or its beginning.
    ///   - isTruncated: Whether the body is longer than `bytes`.
    public init(
        url: String,
        status: Int,
        contentType: String?,
        location: String?,
        bytes: [UInt8],
        isTruncated: Bool = false
    ) {
        self.url = url
        self.status = status
        self.contentType = contentType
        self.location = location
        self.bytes = bytes
        self.isTruncated = isTruncated
    }

    /// The domain of the file, in lowercase; `nil` if ``url`` has no host.
    public var domain: String? {
        SplitLink(url).flatMap { $0.host.isEmpty ? nil : $0.host }
    }
}
