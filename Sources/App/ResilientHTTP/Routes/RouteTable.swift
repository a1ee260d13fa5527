public import HTTPTypes

/// The known routes of an app. The table derives the endpoint of a request, such as `GET /orders/{id}`, from these routes. Policies,
/// quotas, gates and analytics use the endpoint, and never the path with its ids.
///
/// ```swift
/// let routes = RouteTable(["/orders/{id}", "/orders/recent"])
/// ```
///
/// In paths outside of registered routes, the table replaces segments that are probably ids with `{id}`. This replacement can be wrong if a
/// word resembles an id, or if an id resembles a word. In these cases, register the route. The table is a value without locks.
public struct RouteTable: Sendable {
    /// A template and its segments.
    private struct Route: Sendable {
        var template: RouteTemplate
        var segments: [Substring]

        /// Returns whether each segment of the route is a parameter or equals the segment of the path at the same position. The caller
        /// ensures that the route and the path have the same number of segments.
        func matches(_ path: ArraySlice<Substring>) -> Bool {
            zip(segments, path).allSatisfy { RouteTemplate.isParameter($0) || $0 == $1 }
        }

        /// Returns whether this route is more specific than another route with the same number of segments. The method compares the two
        /// routes segment by segment. At the first place where only one of them has a parameter such as `{id}`, the route without the
        /// parameter is more specific.
        func isMoreParticular(than other: Route) -> Bool {
            for (own, others) in zip(segments, other.segments)
            where RouteTemplate.isParameter(own) != RouteTemplate.isParameter(others) {
                return RouteTemplate.isParameter(others)
            }
            return false
        }
    }

    /// The routes, grouped by their number of segments. In each group, more specific routes come first.
    private var routes: [Int: [Route]] = [:]
    /// The segments of the base path. The table removes them from a path before it compares the path with the routes.
    private let base: [Substring]

    /// Creates a table.
    /// - Parameters:
    ///   - templates: The routes. If several routes match, the table uses the most specific one: `/orders/recent` instead of
    ///     `/orders/{id}`.
    ///   - basePath: The base path of all templates, such as `/v2`.
    public init(_ templates: [RouteTemplate] = [], basePath: String = "") {
        base = PathFolding.segments(of: basePath)
        for template in templates { add(template) }
    }

    /// Adds a route. If the table already has the route, nothing changes.
    /// - Parameter template: The template, relative to the base path.
    /// - Complexity: O(n log n) for n routes with the same number of segments.
    public mutating func add(_ template: RouteTemplate) {
        let route = Route(template: template, segments: template.segments)
        let others = routes[route.segments.count, default: []]
        guard !others.contains(where: { $0.template == template }) else { return }
        routes[route.segments.count] = (others + [route]).sorted { $0.isMoreParticular(than: $1) }
    }

    /// Returns the endpoint of a request. If no registered route matches, the route of the endpoint is the path with its ids replaced. The
    /// time is proportional to the length of the path plus the number of routes with the same number of segments.
    /// - Parameter request: A request whose path includes the base path. The table ignores the query.
    public func endpoint(of request: HTTPRequest) -> Endpoint {
        if routes.isEmpty, base.isEmpty { return Endpoint(request.method, PathFolding.template(of: request.path ?? "/")) }
        var path = PathFolding.segments(of: request.path ?? "/")[...]
        if !base.isEmpty, path.starts(with: base) { path = path.dropFirst(base.count) }
        let known = routes[path.count]?.first { $0.matches(path) }
        return Endpoint(request.method, known?.template ?? PathFolding.template(of: path))
    }
}

/// Derives templates from paths without a registered route. Replaces segments that are probably ids with `{id}`.
enum PathFolding {
    /// The maximum number of segments of a template. One segment `{rest}` replaces all further segments.
    static let maximumSegments = 16
    /// The maximum length of a segment that can be a word, in bytes.
    static let longestWord = 64

    /// Returns the segments of a path, without the query, empty segments and unneeded escapes.
    static func segments(of path: String) -> [Substring] {
        let end = path.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.utf8.endIndex
        return path.utf8[..<end].split(separator: UInt8(ascii: "/")).map { unescaped(Substring($0)) }
    }

    /// Returns the template of a path. The result is the same as if the path were first split with ``segments(of:)``. This function is
    /// faster, because it reads the path only once. Every call of a client without routes uses this function.
    static func template(of path: String) -> RouteTemplate {
        var path = path
        let folded = path.withUTF8 { bytes -> String? in
            let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
            let plain = UnsafeBufferPointer(rebasing: bytes[..<end])
            return plain.contains(UInt8(ascii: "%")) ? nil : self.folded(plain)
        }
        return folded.map { RouteTemplate(folded: $0) } ?? template(of: segments(of: path)[...])
    }

    /// Returns the text of the template of a path that contains no query and no escapes. O(length of the path).
    private static func folded(_ path: UnsafeBufferPointer<UInt8>) -> String {
        // The template can be longer than the path. In the worst case, each id is one character: the two bytes `/7` become the five bytes
        // `/{id}`.
        String(unsafeUninitializedCapacity: path.count * 5 / 2 + 16) { text in
            var (length, segments, start) = (0, 0, 0)
            func append(_ bytes: some Collection<UInt8>) {
                length = text[length...].initialize(fromContentsOf: bytes)
            }
            while start < path.count, segments <= maximumSegments {
                guard path[start] != UInt8(ascii: "/") else {
                    start += 1
                    continue
                }
                let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.count
                append(CollectionOfOne(UInt8(ascii: "/")))
                segments += 1
                if segments > maximumSegments {
                    append("{rest}".utf8)
                } else if isIdentifier(UnsafeBufferPointer(rebasing: path[start..<end])) {
                    append("{id}".utf8)
                } else {
                    append(path[start..<end])
                }
                start = end
            }
            if length == 0 { append(CollectionOfOne(UInt8(ascii: "/"))) }
            return length
        }
    }

    /// Returns the template of a path that was split into segments.
    static func template(of segments: ArraySlice<Substring>) -> RouteTemplate {
        let folded = segments.prefix(maximumSegments).map { isIdentifier($0.utf8) ? "{id}" : $0 }
        return RouteTemplate(segments: segments.count > maximumSegments ? folded + ["{rest}"] : folded)
    }

    /// Returns whether a segment is an id rather than a word. The following segments are ids: digits, a UUID, sixteen or more hexadecimal
    /// digits, a long mixture of letters and digits, a text with `@`, and a segment that is too long or unusual for a word.
    static func isIdentifier(_ bytes: some Collection<UInt8>) -> Bool {
        let count = bytes.count
        guard count <= longestWord else { return true }
        // Most segments are short words.
        if count < 16, count > 0, bytes.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "-") }) {
            return false
        }
        var (digits, hexadecimals, hyphens, upper, lower, others, signs) = (0, 0, 0, 0, 0, 0, 0)
        for byte in bytes {
            switch byte {
            case 0x30...0x39: digits += 1
            case 0x41...0x5A: upper += 1
            case 0x61...0x7A: lower += 1
            case UInt8(ascii: "-"): hyphens += 1
            case UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "."), UInt8(ascii: "~"): others += 1
            case 0...0x20, 0x7F..., UInt8(ascii: "@"), UInt8(ascii: "{"), UInt8(ascii: "}"): return true
            default: signs += 1
            }
            if (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF) { hexadecimals += 1 }
        }
        // A word may contain special characters and escapes. Only the escape of `@` makes a segment an id.
        if signs > 0 { return String(decoding: bytes, as: UTF8.self).contains("%40") }
        if digits == count { return true }
        guard count >= 16 else { return false }
        if hexadecimals >= 16, hexadecimals + hyphens == count { return true }
        guard digits > 0 else { return false }
        // A title such as `annual-report-2024` also contains letters and digits. Therefore, a segment whose letters have only one case is
        // an id only if it is long and has no separators.
        return upper > 0 && lower > 0 || count >= 20 && hyphens + others == 0
    }

    /// Replaces the escapes of letters, digits and `-._~` with the characters themselves, which are equivalent (RFC 3986 §2.3).
    private static func unescaped(_ segment: Substring) -> Substring {
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return segment }
        var (bytes, plain) = (Array(segment.utf8)[...], [UInt8]())
        while let byte = bytes.popFirst() {
            let pair = String(decoding: bytes.prefix(2), as: UTF8.self)
            guard byte == UInt8(ascii: "%"), pair.utf8.count == 2, pair.utf8.first != UInt8(ascii: "+"),
                let value = UInt8(pair, radix: 16), isUnreserved(value)
            else {
                plain.append(byte)
                continue
            }
            plain.append(value)
            bytes = bytes.dropFirst(2)
        }
        return Substring(decoding: plain, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "-._~".utf8.contains(byte)
    }
}
