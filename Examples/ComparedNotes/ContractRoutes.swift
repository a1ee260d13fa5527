import AccountContract
import ErrorContract
import HTTPTypes
import Hummingbird
import RateLimiting
import ServerMiddleware

/// The routes with the error contract: values that validate themselves, and errors with codes.
struct ContractRoutes {
    private struct Note: Decodable {
        struct Item: Decodable {
            let name: Title
            let quantity: Quantity
        }

        let title: Title
        let email: EmailAddress
        let priority: Priority
        let items: [Item]
    }

    private struct Title: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
            guard !text.isEmpty else { throw Refusal.empty }
            guard text.count <= 100 else { throw Refusal.tooLong }
        }
    }

    private struct Quantity: Decodable {
        init(from decoder: any Decoder) throws {
            guard try decoder.singleValueContainer().decode(Int.self) >= 1 else { throw Refusal.outOfRange }
        }
    }

    private struct Priority: Decodable {
        init(from decoder: any Decoder) throws {
            guard (1...5).contains(try decoder.singleValueContainer().decode(Int.self)) else { throw Refusal.outOfRange }
        }
    }

    private enum Refusal: ContractRefusal {
        case empty, tooLong, outOfRange

        var code: ErrorCode {
            switch self {
            case .empty: .validationMissingField
            case .tooLong: .validationFieldTooLong
            case .outOfRange: .validationInvalidInput
            }
        }
    }

    private let limit = KeyedRateLimiter<String, ContinuousClock>(
        policy: .requests(2, per: .seconds(60)),
        capacity: 1_000,
        clock: ContinuousClock()
    )

    func add<Context: ContractRequestContext>(to router: some RouterMethods<Context>) {
        router.post("/notes") { request, context in
            let note = try await request.decode(as: Note.self, context: context)
            guard note.title.text != "taken" else { throw ContractError(.resourceAlreadyExists) }
            return HTTPResponse.Status.created
        }
        router.get("/notes/:number") { _, context in
            guard try context.parameters.require("number", as: Int.self) == 1 else { throw ContractError(.resourceNotFound) }
            return "first"
        }
        router.get("/me") { request, _ in try Self.user(request) }
        router.get("/private") { request, _ -> String in
            _ = try Self.user(request)
            throw ContractError(.resourceForbidden)
        }
        router.get("/limited") { [limit] _, _ -> String in
            if case .refused(let wait) = limit.admit("everybody") { throw ContractError(.rateLimitExceeded, retryAfter: wait) }
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
                throw ContractError(.serverServiceUnavailable)
            }
        }
    }

    private static func user(_ request: Request) throws -> String {
        guard let header = request.headers[.authorization] else { throw ContractError(.authTokenMissing) }
        switch header {
        case "Bearer valid": return "1"
        case "Bearer expired": throw ContractError(.authTokenExpired)
        default: throw ContractError(.authTokenInvalid)
        }
    }
}
