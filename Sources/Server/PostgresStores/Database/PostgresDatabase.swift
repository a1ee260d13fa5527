public import AccountCore
public import PostgresDriver

/// The database of all stores: executes statements and reports failures as `StoreFailure`.
public struct PostgresDatabase: Sendable {
    /// The connections.
    public let client: PostgresClient

    /// Creates a database over connections. ``PostgresSchema`` makes its tables.
    public init(_ client: PostgresClient) {
        self.client = client
    }

    /// Executes a statement, whose changes are durable when this returns.
    @discardableResult
    package func execute(_ statement: PostgresStatement, _ values: [PostgresValue] = []) async throws -> PostgresResult {
        try await reporting { try await client.execute(statement, values) }
    }

    /// Executes statements in one transaction, whose changes are durable when this returns. The closure may run more than once, and also after
    /// its changes were committed: what it inserts has ids that were minted before.
    package func transaction<Value: Sendable>(
        _ body: @Sendable (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await reporting { try await client.transaction(body) }
    }

    /// The first row of a statement's result.
    func first<Value>(
        _ statement: PostgresStatement,
        _ values: [PostgresValue],
        _ read: (PostgresRow) throws -> Value
    ) async throws -> Value? {
        try await execute(statement, values).rows.first.map(read)
    }

    /// Executes a statement that removes a bounded number of rows, and reports whether there may be more.
    func sweep(_ statement: PostgresStatement, _ values: [PostgresValue]) async throws -> Bool {
        try await execute(statement, values + [.integer(Self.sweepLimit)]).count == Self.sweepLimit
    }

    /// How many rows a sweep removes at most.
    static let sweepLimit = 500

    /// Returns if the database responds.
    public func ping() async throws {
        try await reporting { try await client.ping() }
    }

    /// Returns if the database executes a statement within a second.
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
    /// Failures that a repetition may change count as busy: no connection, no time, no room, or a transaction that others were in the way of.
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
