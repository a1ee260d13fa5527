public import Foundation

/// One kind of link: its path, and the conversion of its parameters to the app's value.
///
/// ```swift
/// LinkRoute("lesson/:series/:page", needsSession: true) { parameters throws(LinkRefusal) in
///     AppLink.lesson(series: try parameters.text("series"), page: try parameters.integer("page"))
/// }
/// ```
/// The route matches both `https://HOST/lesson/7/2` and `SCHEME://lesson/7/2`.
///
/// If the path doesn't determine the kind of a link, the pattern can require parameters of the query:
/// ```swift
/// LinkRoute("?type=coupon") { … }       // https://HOST/?type=coupon&title=…, SCHEME://?type=coupon&title=…
/// LinkRoute("open?type=coupon") { … }   // https://HOST/open?type=coupon&title=…, SCHEME://open?type=coupon&title=…
/// ```
public struct LinkRoute<Link: Sendable>: Sendable {
    /// The path, and after a `?` the required parameters of the query. A segment of the path that begins with `:` captures a parameter.
    public let pattern: String
    /// Whether the link requires a signed-in user.
    public let needsSession: Bool
    let segments: [String]
    private let required: [String: String]
    let make: @Sendable (LinkParameters) throws(LinkRefusal) -> Link

    /// Creates a route.
    /// - Parameters:
    ///   - pattern: The path. After a `?`, the pattern lists the parameters that the query must have. Each has an exact value, without
    ///     percent-encoding. In a link with a custom scheme, the host is the first segment.
    ///   - needsSession: Whether the link requires a signed-in user. If so, ``LinkRouter`` stores the link until a user signs in.
    ///   - make: Creates the app's value. If it throws, the reader refuses the link with that error.
    /// - Precondition: The first segment of `pattern` is a name, not a capture. A pattern without segments requires at least one parameter.
    ///   The pattern requires each parameter once, with a value.
    public init(
        _ pattern: String,
        needsSession: Bool = false,
        make: @escaping @Sendable (LinkParameters) throws(LinkRefusal) -> Link
    ) {
        let halves = pattern.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = (halves.first ?? "").split(separator: "/").map { String($0) }
        var required: [String: String] = [:]
        for pair in halves.dropFirst().first?.split(separator: "&") ?? [] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
            let isNew = parts.count == 2 && required.updateValue(parts[1], forKey: parts[0]) == nil
            precondition(isNew, "a link's pattern must require each parameter once, with a value (is \(pattern))")
        }
        precondition(
            segments.first.map { !$0.hasPrefix(":") } ?? !required.isEmpty,
            "a link's pattern must begin with a name or require a parameter (is \(pattern))"
        )
        self.pattern = pattern
        self.required = required
        self.needsSession = needsSession
        self.segments = segments
        self.make = make
    }

    /// Returns the captures of a path, or `nil` if the path doesn't match.
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

    /// Returns whether the query has the required parameters.
    func accepts(query: String?) throws(LinkRefusal) -> Bool {
        guard !required.isEmpty else { return true }
        let parameters = try LinkParameters(query: query, captured: [:])
        return required.allSatisfy { parameters[$0.key] == $0.value }
    }

    /// Returns whether both routes match the same links.
    func collides(with other: LinkRoute) -> Bool {
        segments.count == other.segments.count && required == other.required
            && zip(segments, other.segments).allSatisfy { $0 == $1 || $0.hasPrefix(":") && $1.hasPrefix(":") }
    }
}

/// The parameters of a link: the captures of its path and the items of its query, percent-decoded. Each name occurs at most once.
public struct LinkParameters: Hashable, Sendable {
    private var values: [String: String] = [:]

    init(query: String?, captured: [String: String]) throws(LinkRefusal) {
        values = captured
        for item in (query ?? "").split(separator: "&") {
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves[0].removingPercentEncoding else { throw .malformed }
            guard let value = halves.count > 1 ? halves[1].removingPercentEncoding : "" else { throw .malformedParameter(name) }
            guard values.updateValue(value, forKey: name) == nil else { throw .doubledParameter(name) }
        }
    }

    /// The percent-decoded value of a parameter, or `nil` if the parameter is missing. The value of a parameter without `=` is an empty
    /// string.
    /// - Parameter name: The name of the capture or of the query item.
    public subscript(name: String) -> String? { values[name] }

    /// The names of the parameters.
    public var names: Set<String> { Set(values.keys) }

    /// Returns a required parameter.
    ///
    /// - Parameter name: The name of the capture or of the query item.
    /// - Returns: The percent-decoded value. It comes from the link, so validate it before you use it, for example as an id.
    /// - Throws: ``LinkRefusal/missingParameter(_:)`` if the parameter is missing or empty.
    public func text(_ name: String) throws(LinkRefusal) -> String {
        guard let value = values[name], !value.isEmpty else { throw .missingParameter(name) }
        return value
    }

    /// Returns a required whole number in plain digits.
    ///
    /// - Parameters:
    ///   - name: The name of the capture or of the query item.
    ///   - range: The valid numbers. The default refuses negative numbers.
    /// - Throws: ``LinkRefusal/missingParameter(_:)``, or ``LinkRefusal/malformedParameter(_:)`` if the value is not a whole number or is
    ///   outside of `range`.
    public func integer(_ name: String, in range: ClosedRange<Int> = 0...Int.max) throws(LinkRefusal) -> Int {
        let value = try text(name)
        guard Self.isNumber(value, allowsFraction: false), let number = Int(value), range.contains(number) else {
            throw .malformedParameter(name)
        }
        return number
    }

    /// Returns a required decimal number in plain digits, with a point if it has a fraction.
    ///
    /// - Parameter name: The name of the capture or of the query item.
    /// - Returns: The exact number. Its text has at most 38 characters.
    /// - Throws: ``LinkRefusal/missingParameter(_:)``, or ``LinkRefusal/malformedParameter(_:)`` if the value is not a number in this
    ///   format.
    public func decimal(_ name: String) throws(LinkRefusal) -> Decimal {
        let value = try text(name)
        guard Self.isNumber(value, allowsFraction: true), value.count <= 38, let number = Decimal(string: value) else {
            throw .malformedParameter(name)
        }
        return number
    }

    private static func isNumber(_ text: String, allowsFraction: Bool) -> Bool {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= (allowsFraction ? 2 : 1)
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}

extension LinkParameters: CustomStringConvertible, CustomReflectable {
    /// The names without the values, which may be secrets and must not be logged.
    public var description: String { "LinkParameters(\(names.sorted().joined(separator: ", ")))" }
    /// A mirror without members.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
