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
    /// - Parameter chosen: The form that the route has chosen, if it has.
    public func form(for request: Request, chosen: ErrorForm? = nil) -> ErrorForm {
        let form = chosen ?? form(below: request.uri.path) ?? usual
        guard let accept = request.headers[.accept] else { return form }
        let preference = MediaPreference(accept: accept)
        let (problem, json) = (preference.quality(of: Self.problem), preference.quality(of: Self.json))
        if preference.names(Self.problem), problem >= json { return .problem }
        return form == .problem && preference.names(Self.json) && json > problem ? .standard : form
    }

    private static let problem = "application/problem+json"
    private static let json = "application/json"

    private func form(below path: String) -> ErrorForm? {
        guard !below.isEmpty else { return nil }
        let segments = path.split(separator: "/")
        let fitting = below.map { (path: $0.split(separator: "/"), form: $1) }.filter { segments.starts(with: $0.path) }
        return fitting.max { $0.path.count < $1.path.count }?.form
    }
}
