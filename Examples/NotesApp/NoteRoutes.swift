import AccountContract
import AccountServer
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import Idempotency
import ServerMiddleware

/// The routes of the notes.
///
/// A route returns its result or throws an error. The router converts each error to a response, so no route creates error responses.
struct NoteRoutes<Context: ContractRequestContext & RemoteAddressRequestContext> {
    let notes: NoteShelf
    let accounts: AccountServer
    /// The idempotency keys, with which a note that a client sends twice is added once.
    let keys: IdempotencyKeys

    /// Adds the routes. Only `POST /notes` accepts idempotency keys, which belong to the account or, without an access token, to the
    /// address.
    func add(to router: some RouterMethods<Context>) {
        router.group("/notes").idempotent(by: keys) { try await accounts.idempotencyOwner(of: $0, in: $1) }.post(use: create)
        router.group("/notes")
            .get("/mine", use: list)
            .get("/archive", use: archive)
            .get("/:id", use: read)
            .delete("/:id", use: remove)
            .get("/:id/translation", use: translate)
    }

    /// Adds a note. The note and the idempotency key are committed in one transaction.
    @Sendable private func create(_ request: Request, _ context: Context) async throws -> Response {
        let note = try await request.decode(as: Note.self, context: context)
        let owner = try await user(of: request)
        return try await IdempotentRequest.commit { try await notes.add(note, of: owner, for: $0) }
    }

    /// Returns the notes of the signed-in user.
    /// - Throws: A `ContractError` with status 401 if the request has no valid access token.
    @Sendable private func list(_ request: Request, _ context: Context) async throws -> [Note] {
        guard let user = try await accounts.user(of: request).id else { return [] }
        return try await notes.notes(of: user)
    }

    /// Returns the signed-in user; `nil` for a request without an `Authorization` field.
    /// - Throws: A `ContractError` with status 401 if the access token is invalid or expired.
    private func user(of request: Request) async throws -> UserID? {
        request.headers[.authorization] == nil ? nil : try await accounts.user(of: request).id
    }

    /// Returns a note. A note of another user is reported as missing, so that the response doesn't reveal that it exists.
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

    /// Throws an error of Foundation, because the file doesn't exist. The response is a 500 without the path; the log contains the error.
    @Sendable private func archive(_ request: Request, _ context: Context) throws -> ByteBuffer {
        ByteBuffer(bytes: try Data(contentsOf: URL(filePath: "/srv/notes/archive-of-ana.zip")))
    }

    /// Waits for a day, like a call of a service that doesn't respond. The client gets 504 at the deadline.
    @Sendable private func translate(_ request: Request, _ context: Context) async throws -> String {
        try await Task.sleep(for: .seconds(86_400))
        return "fertig"
    }
}

extension Note: ResponseEncodable {}
