import Hummingbird

extension RequestContext {
    /// The template of the route that answers, or `none`: the router calls what it does not find by a name of its own.
    var routeTemplate: String { endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "none" }
}
