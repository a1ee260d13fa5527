public import AccountCore
public import PostgresDriver

/// The database of all stores. Executes statements and reports failures as `StoreFailure`.
public struct PostgresDatabase: Sendable {
    /// The connections.
    public let client: PostgresClient

    /// Creates a database over connections. ``PostgresSchema`` creates its tables.
    public init(_ client: PostgresClient) {
        self.client = client
    }

    /// Executes a statement, whose changes are durable when this returns.
    @discardableResult
    package func execute(_ statement: PostgresStatement, _ values: [PostgresValue] = []) async throws -> PostgresResult {
        try await reporting { try await client.execute(statement, values) }
    }

    /// Executes statements in one transaction, whose changes are durable when this returns. The closure may run more than once, even after
    /// its changes were committed, so create the ids of inserted rows before the call.
    package func transaction<Value: Sendable>(
        _ body: @Sendable (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await reporting { try await client.transaction(body) }
    }

    /// Returns the first row of a statement's result.
    func first<Value>(
        _ statement: PostgresStatement,
        _ values: [PostgresValue],
        _ read: (PostgresRow) throws -> Value
    ) async throws -> Value? {
        try await execute(statement, values).rows.first.map(read)
    }

    /// Executes a statement that removes a bounded number of rows, and returns whether there may be more.
    func sweep(_ statement: PostgresStatement, _ values: [PostgresValue]) async throws -> Bool {
        try await execute(statement, values + [.integer(Self.sweepLimit)]).count == Self.sweepLimit
    }

    /// The largest number of rows that a sweep removes.
    static let sweepLimit = 500

    /// Returns if the database responds.
    public func ping() async throws {
        try await reporting { try await client.ping() }
    }

    /// Returns if the database executes a statement within a second; otherwise, throws.
    func ping(_ statement: PostgresStatement) async throws {
        try await reporting { try await client.ping(statement) }
    }

    private func reporting<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw StoreFailure(error)
        } catch is UnreadableColumn {
            throw StoreFailure(isBusy: false, message: "a row can't be read")
        }
    }
}

extension StoreFailure {
    /// Creates a failure. Failures that a retry may resolve count as busy: no connection, no time, no space, or a conflict with another
    /// transaction.
    public init(_ error: PostgresError) {
        let isBusy =
            switch error {
            case .unavailable, .deadlineExceeded, .outcomeUnknown: true
            case .refused(let state):
                ["08", "40", "53", "55", "57", "58"].contains(state.prefix(2)) || state == "25006"
            }
        self.init(isBusy: isBusy, isOutcomeUnknown: error == .outcomeUnknown, message: error.description)
    }
}
