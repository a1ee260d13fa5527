/// One kind of link: where it leads, and how its parameters become the app's own value.
///
/// ```swift
/// LinkRoute("lesson/:series/:page", needsSession: true) { parameters throws(LinkRefusal) in
///     AppLink.lesson(series: try parameters.text("series"), page: try parameters.integer("page"))
/// }
/// ```
/// The same route reads `https://HOST/lesson/7/2` and `SCHEME://lesson/7/2`.
public struct LinkRoute<Link: Sendable>: Sendable {
    /// What the path looks like, segment by segment; a segment that begins with `:` captures a parameter.
    public let pattern: String
    /// Whether the link makes sense only for somebody who is signed in.
    public let needsSession: Bool
    let segments: [String]
    let make: @Sendable (LinkParameters) throws(LinkRefusal) -> Link

    /// Creates a route.
    /// - Parameters:
    ///   - pattern: What the path looks like. In a link of a custom scheme the host counts as the first segment.
    ///   - needsSession: Whether the link is to be held while nobody is signed in.
    ///   - make: Makes the app's value; what it throws is the answer to the link.
    /// - Precondition: `pattern` begins with a segment of its own, not with a capture.
    public init(
        _ pattern: String,
        needsSession: Bool = false,
        make: @escaping @Sendable (LinkParameters) throws(LinkRefusal) -> Link
    ) {
        let segments = pattern.split(separator: "/").map { String($0) }
        precondition(segments.first?.hasPrefix(":") == false, "a link's pattern must begin with a name (is \(pattern))")
        self.pattern = pattern
        self.needsSession = needsSession
        self.segments = segments
        self.make = make
    }

    /// What the path captures, or `nil` if it is another one.
    func captures(of path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var captured: [String: String] = [:]
        for (segment, value) in zip(segments, path) {
            if segment.hasPrefix(":") {
                captured[String(segment.dropFirst())] = value
            } else if segment != value {
                return nil
            }
        }
        return captured
    }

    /// Whether both read the same paths.
    func collides(with other: LinkRoute) -> Bool {
        segments.count == other.segments.count
            && zip(segments, other.segments).allSatisfy { $0 == $1 || $0.hasPrefix(":") && $1.hasPrefix(":") }
    }
}
