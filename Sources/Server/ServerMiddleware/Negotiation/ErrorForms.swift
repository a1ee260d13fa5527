public import ErrorContract
import HTTPTypes
public import Hummingbird

/// Chooses the format of an error body. The order of precedence is: the format that the client requests, the format that the route has
/// chosen, the format of the path, the default.
public struct ErrorForms: Hashable, Sendable {
    /// The format for paths without a format in ``below``.
    public var usual: ErrorForm
    /// The formats for certain paths, such as `["/v1": .flat]`. The format of a path also applies to all paths below it. If several paths
    /// match, the path with the most segments determines the format.
    ///
    /// The formats also apply to errors without a route: unknown paths and wrong methods.
    public var below: [String: ErrorForm]

    /// Creates a rule with a default format and the formats for certain paths.
    /// - Parameters:
    ///   - usual: The format for paths without a format in `below`.
    ///   - below: The formats for certain paths. The format of a path also applies to all paths below it, such as `/v1/orders` below `/v1`.
    public init(_ usual: ErrorForm = .standard, below: [String: ErrorForm] = [:]) {
        self.usual = usual
        self.below = below
    }

    /// Returns the format of the error response to a request.
    ///
    /// If `Accept` lists `application/problem+json` with at least the quality of `application/json`, the client gets problem details. A
    /// wildcard doesn't count as a listing. If problem details are the format of the route, of the path or the default, a client that
    /// prefers `application/json` gets the standard format instead.
    /// - Parameters:
    ///   - request: The failed request.
    ///   - chosen: The format that the route has chosen; `nil` if the route has chosen no format.
    public func form(for request: Request, chosen: ErrorForm? = nil) -> ErrorForm {
        let form = chosen ?? form(below: request.uri.path) ?? usual
        guard let accept = request.headers.value(of: .accept) else { return form }
        let preference = MediaPreference(accept: accept)
        let (problem, json) = (preference.quality(of: Self.problem), preference.quality(of: Self.json))
        if preference.names(Self.problem), problem >= json { return .problem }
        return form == .problem && preference.names(Self.json) && json > problem ? .standard : form
    }

    private static let problem = "application/problem+json"
    private static let json = "application/json"

    /// Returns the format in ``below`` for a path; `nil` if ``below`` contains neither the path nor a path above it. If several paths
    /// match, the longest one applies.
    private func form(below path: String) -> ErrorForm? {
        var longest: (count: Int, form: ErrorForm)?
        for (prefix, form) in below {
            guard let count = Self.segments(of: prefix, leading: path), count > longest?.count ?? -1 else { continue }
            longest = (count, form)
        }
        return longest?.form
    }

    /// Returns the number of segments in `prefix` if the path begins with `prefix`; otherwise `nil`. The method ignores empty segments.
    private static func segments(of prefix: String, leading path: String) -> Int? {
        var (prefix, path) = (prefix.utf8[...], path.utf8[...])
        let slash = UInt8(ascii: "/")
        var count = 0
        while true {
            prefix = prefix.drop { $0 == slash }
            path = path.drop { $0 == slash }
            guard !prefix.isEmpty else { return count }
            let segment = prefix.prefix { $0 != slash }
            guard path.starts(with: segment) else { return nil }
            path = path.dropFirst(segment.count)
            guard path.first.map({ $0 == slash }) ?? true else { return nil }
            prefix = prefix[segment.endIndex...]
            count += 1
        }
    }
}
