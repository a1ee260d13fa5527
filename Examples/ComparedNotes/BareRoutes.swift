import Foundation
import HTTPTypes
import Hummingbird
import RateLimiting

/// The same routes, written as in Hummingbird's documentation.
struct BareRoutes {
    private struct Note: Decodable {
        struct Item: Decodable {
            let name: String
            let quantity: Int
        }

        let title: String
        let email: String
        let priority: Int
        let items: [Item]

        /// The first problem of the note, as a handler would report it.
        var problem: String? {
            if title.isEmpty { return "title must not be empty" }
            if title.count > 100 { return "title must have at most 100 characters" }
            if email.wholeMatch(of: /[^@\s]+@[^@\s]+\.[^@\s]+/) == nil { return "email must be an email address" }
            if !(1...5).contains(priority) { return "priority must be from 1 to 5" }
            if items.contains(where: { $0.name.isEmpty || $0.quantity < 1 }) { return "items must have a name and a quantity" }
            return nil
        }
    }

    private let limit = KeyedRateLimiter<String, ContinuousClock>(
        policy: .requests(2, per: .seconds(60)),
        capacity: 1_000,
        clock: ContinuousClock()
    )

    func add(to router: Router<BasicRequestContext>) {
        router.post("/notes") { request, context in
            let note = try await request.decode(as: Note.self, context: context)
            if let problem = note.problem { throw HTTPError(.badRequest, message: problem) }
            guard note.title != "taken" else { throw HTTPError(.conflict, message: "A note with this title exists.") }
            return HTTPResponse.Status.created
        }
        router.get("/notes/:number") { _, context in
            guard try context.parameters.require("number", as: Int.self) == 1 else { throw HTTPError(.notFound) }
            return "first"
        }
        router.get("/me") { request, _ in try Self.user(request) }
        router.get("/private") { request, _ -> String in
            _ = try Self.user(request)
            throw HTTPError(.forbidden)
        }
        router.get("/limited") { [limit] _, _ -> String in
            if case .refused(let wait) = limit.admit("everybody") {
                let seconds = wait.components.seconds + 1
                throw HTTPError(.tooManyRequests, headers: [.retryAfter: "\(seconds)"], message: "Too many requests")
            }
            return "ok"
        }
        router.get("/throws") { _, _ -> String in throw Bug() }
        router.get("/hangs") { _, _ -> String in
            try await Task.sleep(for: .seconds(3_600))
            return "late"
        }
        router.get("/dependency") { _, _ -> String in
            do {
                try await Dependency.reach()
                return "ok"
            } catch {
                throw HTTPError(.serviceUnavailable, message: "The search index is not available.")
            }
        }
    }

    private static func user(_ request: Request) throws -> String {
        guard request.headers[.authorization] == "Bearer valid" else { throw HTTPError(.unauthorized) }
        return "1"
    }
}
