public import HTTPTypes

/// Identifies a request in quotas, logs and events by its method and the template of its route. An endpoint contains no id, no query and no
/// host.
public struct Endpoint: Hashable, Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The template of the route.
    public let route: RouteTemplate

    /// Creates an endpoint. For the endpoint of a request, use ``RouteTable/endpoint(of:)``.
    /// - Parameters:
    ///   - method: The method.
    ///   - route: The template of the route, such as `/api/activities/{id}`.
    public init(_ method: HTTPRequest.Method, _ route: RouteTemplate) {
        (self.method, self.route) = (method, route)
    }
}

extension Endpoint: CustomStringConvertible {
    /// A description such as `GET /api/activities/{id}`.
    public var description: String { "\(method.rawValue) \(route)" }
}

/// A path with placeholders for its variable parts: `/api/activities/{id}`.
///
/// A template identifies a route without ids, so the app can log the template and use it as a key. Each `{name}` represents one segment.
/// The type ignores a trailing slash.
///
/// ```swift
/// let route: RouteTemplate = "/api/activities/{id}"
/// ```
///
/// A literal must be a valid template. For a text from another source, use ``init(parsing:)``.
public struct RouteTemplate: Hashable, Sendable {
    /// The template without a trailing slash.
    private let text: String

    /// Parses a template from an external source. Returns `nil` if the template is invalid.
    ///
    /// - Parameter text: A path of at most 2,048 visible ASCII characters. It begins with a slash, and has no query, no fragment and no
    ///   empty segments. A `{name}` is a whole segment, and its name consists of letters, digits and underscores.
    public init?(parsing text: some StringProtocol) {
        guard text.utf8.count <= 2_048, text.utf8.first == UInt8(ascii: "/") else { return nil }
        var segments = text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if segments.last?.isEmpty == true { segments.removeLast() }
        guard segments.allSatisfy({ Self.isSegment(Array($0)) }) else { return nil }
        self.init(segments: segments.map { String(decoding: $0, as: UTF8.self) })
    }

    /// Creates a template from segments, without checking them.
    init(segments: [some StringProtocol]) {
        text = segments.isEmpty ? "/" : segments.reduce(into: "") { $0 += "/" + $1 }
    }

    /// Creates a template from a text, without checking the text.
    init(folded text: String) {
        self.text = text
    }

    /// The segments, without slashes.
    var segments: [Substring] { text.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) } }

    /// Returns whether a segment is a placeholder.
    static func isParameter(_ segment: Substring) -> Bool { segment.utf8.first == UInt8(ascii: "{") }

    /// Returns whether bytes are a literal segment of visible ASCII characters, or a whole placeholder such as `{id}`.
    private static func isSegment(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"?#".utf8.contains($0) }) else { return false }
        guard bytes.contains(where: { "{}".utf8.contains($0) }) else { return true }
        guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}"), bytes.count > 2 else { return false }
        return bytes.dropFirst().dropLast().allSatisfy {
            $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF)
        }
    }
}

extension RouteTemplate: ExpressibleByStringLiteral {
    /// Creates a template from a literal.
    ///
    /// - Parameter text: The template, such as `/api/activities/{id}`.
    /// - Precondition: The literal is a valid template; see ``init(parsing:)``.
    public init(stringLiteral text: String) {
        guard let template = RouteTemplate(parsing: text) else {
            preconditionFailure("not a route template: \(text)")
        }
        self = template
    }
}

extension RouteTemplate: CustomStringConvertible {
    /// The template without a trailing slash.
    public var description: String { text }
}
