import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import ServerMiddleware

/// The routes: each does its work or throws.
struct NoteRoutes<Context: ContractRequestContext & RemoteAddressRequestContext> {
    let notes: NoteShelf
    /// By which a note that is sent twice is added once.
    let keys: IdempotencyKeys

    func add(to router: some RouterMethods<Context>) {
        router.group("/notes").idempotent(by: keys).post(use: create)
        router.group("/notes")
            .get("/archive", use: archive)
            .get("/:id", use: read)
            .delete("/:id", use: remove)
            .get("/:id/translation", use: translate)
    }

    @Sendable private func create(_ request: Request, _ context: Context) async throws -> EditedResponse<[String: Int]> {
        let note = try await request.decode(as: Note.self, context: context)
        return EditedResponse(status: .created, response: ["id": notes.add(note)])
    }

    @Sendable private func read(_ request: Request, _ context: Context) throws -> Note {
        guard let note = notes.note(try context.parameters.require("id", as: Int.self)) else {
            throw ContractError(.resourceNotFound)
        }
        return note
    }

    @Sendable private func remove(_ request: Request, _ context: Context) throws -> HTTPResponse.Status {
        try notes.remove(try context.parameters.require("id", as: Int.self))
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
