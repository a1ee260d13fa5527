public import Hummingbird
public import Idempotency

extension IdempotentRequest {
    /// Does the work of a request and finishes its key in one transaction, so that it is done exactly once, also if the process is killed.
    ///
    /// ```swift
    /// try await IdempotentRequest.commit { request in
    ///     try await database.write { database in
    ///         try database.execute(sql: "INSERT INTO note (title) VALUES (?)", arguments: [note.title])
    ///         let response = try IdempotentResponse.json(["id": database.lastInsertedRowID], status: 201)
    ///         try request?.finish(with: response, in: database)
    ///         return response
    ///     }
    /// }
    /// ```
    /// The keys must be in the database of the work: `SQLiteStores` and `PostgresStores` have `finish(with:in:)` for their transactions; your own
    /// `IdempotencyStore` stores ``stored(_:)`` until ``expiry`` where the claim has the key, calls ``noteFinished()``, and throws
    /// `LostIdempotencyKey` if the claim has lost it, which rolls the work back.
    ///
    /// | a process is killed | the repetition of the request |
    /// |---|---|
    /// | before the commit | gets 409 until the lease ends, then is done for the first time |
    /// | after the commit | gets the stored response |
    ///
    /// Work outside the transaction, such as an email or a call of another server, may be repeated. A route must end within the lease of its
    /// ``IdempotencyKeys``: after it the key may be another process's, and the transaction fails.
    /// - Parameter transaction: The work. It gets `nil` for a request without a key. If it throws, nothing may be stored.
    /// - Returns: The response that the closure returns.
    public static func commit(
        _ transaction: (IdempotentRequest?) async throws -> IdempotentResponse
    ) async throws -> Response {
        let request = current
        do {
            return Response(try await transaction(request))
        } catch {
            request?.noteFailed()
            throw error
        }
    }

    /// Does the work of a request whose response is known before it is done. If the store of the work is in the database of the keys, it finishes
    /// the key in the transaction of the work; otherwise the middleware does so after the response.
    package static func committing<Value>(
        _ response: Response,
        _ work: () async throws -> Value
    ) async throws -> Value {
        guard let request = current else { return try await work() }
        var response = response
        let answer = try await response.buffered()
        do {
            return try await request.expecting(answer, work)
        } catch {
            request.noteFailed()
            throw error
        }
    }
}
