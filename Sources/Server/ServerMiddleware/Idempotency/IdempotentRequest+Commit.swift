public import Hummingbird
public import Idempotency

extension IdempotentRequest {
    /// Does the work of a request and finishes its key (stores its response) in one transaction. The server then does the work exactly
    /// once, even if its process is killed.
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
    /// The keys and the data of the work must be in the same database. `SQLiteStores` and `PostgresStores` contain `finish(with:in:)` for
    /// their transactions. For another `IdempotencyStore`, write such a method. In the transaction, the method must
    /// 1. store the response that `stored(_:)` returns, with the expiry `expiry`, if the `claim` still has the key;
    /// 2. throw `LostIdempotencyKey` if the claim no longer has the key, so that the transaction is rolled back;
    /// 3. call `noteFinished()`.
    ///
    /// | a process is killed | a repetition of the request |
    /// |---|---|
    /// | before the commit | gets 409 until the lease ends, then is executed for the first time |
    /// | after the commit | gets the stored response |
    ///
    /// If the route throws after the commit, a repetition also gets the stored response. The transaction stores a response with any status,
    /// even with 429 or 5xx, which the middleware itself doesn't store. To refuse a request that the client can repeat later, throw an
    /// error instead.
    ///
    /// Effects outside the transaction, such as an email or a call of another server, can happen twice. The route must end within the lease
    /// of its ``IdempotencyKeys``. After the lease, another process can claim the key. The transaction then fails with
    /// `LostIdempotencyKey`. Don't catch this error, because the middleware responds to it with 409.
    /// - Parameter transaction: A closure that does the work. Its argument is `nil` for a request without a key. If the closure throws, it
    ///   must roll back the transaction.
    /// - Returns: The response that the closure returns, with its safe header fields.
    /// - Throws: The error of the closure. The middleware then treats the key as not finished.
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

    /// Does the work of a request whose response is known before the work.
    ///
    /// The store that writes the change finishes the key in the same transaction, if the change and the keys are in the same database.
    /// Otherwise, the middleware finishes the key after the route.
    /// - Parameters:
    ///   - response: The response to the request and to its repetitions, if the work changes something.
    ///   - work: The work, with at most one change by a store that finishes keys.
    /// - Returns: The value that the closure returns.
    /// - Throws: Errors of the closure and of the response's body. The middleware then treats the key as not finished.
    package static func committing<Value>(
        _ response: Response,
        _ work: () async throws -> Value
    ) async throws -> Value {
        guard let request = current else { return try await work() }
        var response = response
        let stored = try await response.buffered()
        do {
            return try await request.expecting(stored, work)
        } catch {
            request.noteFailed()
            throw error
        }
    }
}
