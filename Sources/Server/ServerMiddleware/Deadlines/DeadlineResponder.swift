import Hummingbird

/// A responder that has a deadline.
struct DeadlineResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: Sendable {
    let base: Base
    let deadline: RequestDeadline

    func respond(to request: Request, context: Base.Context) async throws -> Response {
        try await deadline.run(for: request) { try await base.respond(to: request, context: context) }
    }
}
