import AccountContract
import AccountServer
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Idempotency
import ServerMiddleware

/// The routes: each does its work or throws.
struct NoteRoutes<Context: ContractRequestContext & RemoteAddressRequestContext> {
    let notes: NoteShelf
    let accounts: AccountServer
    /// The idempotency keys: a note that is sent twice is added once.
    let keys: IdempotencyKeys

    func add(to router: some RouterMethods<Context>) {
        router.group("/notes").idempotent(by: keys) { try await accounts.idempotencyOwner(of: $0, in: $1) }.post(use: create)
        router.group("/notes")
            .get("/mine", use: list)
            .get("/archive", use: archive)
            .get("/:id", use: read)
            .delete("/:id", use: remove)
            .get("/:id/translation", use: translate)
    }

    @Sendable private func create(_ request: Request, _ context: Context) async throws -> Response {
        let note = try await request.decode(as: Note.self, context: context)
        let owner = try await user(of: request)
        return try await IdempotentRequest.commit { try await notes.add(note, of: owner, for: $0) }
    }

    /// The signed-in user's notes: without a valid access token the response is a 401 in the contract.
    @Sendable private func list(_ request: Request, _ context: Context) async throws -> [Note] {
        guard let user = try await accounts.user(of: request).id else { return [] }
        return try await notes.notes(of: user)
    }

    /// The signed-in user, or `nil` for a request without an access token.
    private func user(of request: Request) async throws -> UserID? {
        request.headers[.authorization] == nil ? nil : try await accounts.user(of: request).id
    }

    @Sendable private func read(_ request: Request, _ context: Context) async throws -> Note {
        let id = try context.parameters.require("id", as: Int.self)
        guard let note = try await notes.note(id, for: try await user(of: request)) else {
            throw ContractError(.resourceNotFound)
        }
        return note
    }

    @Sendable private func remove(_ request: Request, _ context: Context) async throws -> HTTPResponse.Status {
        try await notes.remove(try context.parameters.require("id", as: Int.self), for: try await user(of: request))
        return .noContent
    }

    /// There is no such file. What the system says about it is nobody's business but the log's.
    @Sendable private func archive(_ request: Request, _ context: Context) throws -> ByteBuffer {
        ByteBuffer(bytes: try Data(contentsOf: URL(filePath: "/srv/notes/archive-of-ana.zip")))
    }

    /// Asks a translator that does not answer.
    @Sendable private func translate(_ request: Request, _ context: Context) async throws -> String {
        try await Task.sleep(for: .seconds(86_400))
        return "fertig"
    }
}

extension Note: ResponseEncodable {}
