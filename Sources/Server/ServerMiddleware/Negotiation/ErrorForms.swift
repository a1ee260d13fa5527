public import ErrorContract
import HTTPTypes
public import Hummingbird

/// Which form an error body has: the one that the client asked for, else the path's, else the server's.
public struct ErrorForms: Hashable, Sendable {
    /// The form where nothing else is said.
    public var usual: ErrorForm
    /// Forms of single paths and of all that is below them, such as `["/v1": .flat]`. Of several that fit the longest counts.
    ///
    /// They also hold for what no route answers: an unknown path, a wrong method.
    public var below: [String: ErrorForm]

    /// Creates the choice.
    public init(_ usual: ErrorForm = .standard, below: [String: ErrorForm] = [:]) {
        self.usual = usual
        self.below = below
    }

    /// The form to answer a request in.
    ///
    /// A client that names `application/problem+json` in `Accept`, and wants it no less than `application/json`, gets problem
    /// details; a wildcard is no such wish.
    /// - Parameters:
    ///   - request: The request that failed.
    ///   - chosen: The form that the route has chosen, if it has.
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

    private func form(below path: String) -> ErrorForm? {
        var longest: (count: Int, form: ErrorForm)?
        for (prefix, form) in below {
            guard let count = Self.segments(of: prefix, leading: path), count > longest?.count ?? -1 else { continue }
            longest = (count, form)
        }
        return longest?.form
    }

    /// The number of segments of a path with which another begins; `nil` if that begins with others. Empty segments count for nothing.
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
