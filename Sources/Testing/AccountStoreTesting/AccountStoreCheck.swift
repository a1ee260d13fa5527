public import AccountCore
import Foundation

/// A check of one rule that every implementation of `AccountStores` must follow. Run all checks on your stores before you use the stores in
/// a server.
///
/// Run each check on new, empty stores:
///
/// ```swift
/// @Test("MySQL stores pass every check", arguments: AccountStoreCheck.all)
/// func passes(_ check: AccountStoreCheck) async throws {
///     try await check.run(MySQLAccountStores(database: try await .empty()))
/// }
/// ```
///
/// A failure reports the store, the violated rule, the expected and the actual value, and the line of the check.
///
/// To find races between processes, pass a second set of stores as `sharedWith`, with its own connections to the same database. The checks
/// of concurrency start up to 50 calls at once and send about half of them to the second set. No check waits in real time, because each
/// call of a store receives the time as an argument.
///
/// The suite doesn't cover crashes of the database or the process. See ``IdempotencyStoreCheck``, ``IdempotentEffectCheck`` and
/// ``RateLimitStoreCheck`` for the other stores of a server.
///
/// The checks of one kind of store are in ``accounts``, ``sessions``, ``resetTokens``, ``accountLockTokens``, ``records``, ``intents``,
/// ``sentResets``, ``audit``, ``decoys`` and ``signingKeys``. Their documentation lists common causes of failures. All of these checks also
/// use the store of accounts.
///
/// Each check needs its own empty database. If creating a database is slow, copy a template database, or use a new schema in one database
/// for each check.
public struct AccountStoreCheck: Sendable, CustomStringConvertible {
    /// The store and the rule, such as `sessions: Refuses an unknown token`.
    public let description: String
    /// The steps of the check. They throw ``Difference`` at the first violation.
    private let body: @Sendable (StoresUnderTest) async throws -> Void

    /// A violation of a rule by a store.
    ///
    /// The text begins with the description of the check, so that you understand the text in a log without the name of the test.
    public struct Violation: Error, CustomStringConvertible {
        /// The check, the difference, and the file and line of the check.
        public let description: String

        /// Runs the steps of a check, and adds the name of the check to the ``Difference`` that they throw.
        static func report(of check: String, by steps: () async throws -> Void) async throws {
            do {
                try await steps()
            } catch let difference as Difference {
                throw Violation(description: "\(check): \(difference)")
            }
        }
    }

    /// Creates a check.
    /// - Parameters:
    ///   - store: The name of the store in the description, such as `sessions`.
    ///   - rule: The rule as a sentence in the present tense.
    ///   - body: The steps of the check, which throw ``Difference`` if the stores violate the rule.
    fileprivate init(_ store: String, _ rule: String, _ body: @escaping @Sendable (StoresUnderTest) async throws -> Void) {
        description = "\(store): \(rule)"
        self.body = body
    }

    /// All checks of all stores, in a fixed order. Pass them as the arguments of a parameterized test, so that each check is a separate
    /// test case.
    public static let all =
        accounts + sessions + resetTokens + accountLockTokens + records + intents + sentResets + audit + decoys + signingKeys

    /// Runs the check on stores, which must be new and empty. After the check, they contain the data of the check.
    ///
    /// To repeat a check, create new stores. If a store throws an error of its database, the check throws this error unchanged, because
    /// such an error doesn't show whether the store follows the rule.
    /// - Parameters:
    ///   - stores: The stores.
    ///   - others: Other stores on the same data, which represent another process. Checks of concurrency alternate their calls between
    ///     `stores` and `others`. With `nil`, all calls go to `stores`.
    /// - Throws: ``Violation`` if the stores violate the rule; errors of the stores.
    public func run(_ stores: any AccountStores, sharedWith others: (any AccountStores)? = nil) async throws {
        try await Violation.report(of: description) {
            try await body(StoresUnderTest(stores: stores, others: others ?? stores))
        }
    }
}

/// Creates the checks of one store.
struct CheckBuilder: Sendable {
    /// The name of the store in the descriptions, such as `sessions`.
    let store: String

    /// Returns a check.
    /// - Parameters:
    ///   - rule: The rule as a sentence in the present tense.
    ///   - body: The steps of the check, which throw ``Difference`` if the stores violate the rule.
    func callAsFunction(
        _ rule: String,
        _ body: @escaping @Sendable (StoresUnderTest) async throws -> Void
    ) -> AccountStoreCheck {
        AccountStoreCheck(store, rule, body)
    }

    /// Returns a check whose steps begin with an active account in the stores.
    func withAccount(
        _ rule: String,
        _ body: @escaping @Sendable (StoresUnderTest, Account) async throws -> Void
    ) -> AccountStoreCheck {
        AccountStoreCheck(store, rule) { stores in try await body(stores, stores.addAccount()) }
    }
}

/// A difference between the behavior of a store and the rule.
///
/// ``AccountStoreCheck/run(_:sharedWith:)`` and the functions `run` of the other suites convert a difference to
/// ``AccountStoreCheck/Violation``, which adds the name of the check.
struct Difference: Error, CustomStringConvertible {
    /// The difference as a sentence, with the file and the line of the check: `The epoch should be 1 and is 0 (AccountStoreTesting/…:118)`.
    let description: String
}

/// Requires that two values are equal.
///
/// Use this function instead of ``require(_:_:line:file:)`` if the two values help to find the cause of a failure.
/// - Parameters:
///   - actual: The value of the store.
///   - expected: The value that the rule requires.
///   - what: The name of the value, as the subject of a sentence: "The epoch". The function evaluates this argument only after a failure.
///   - line: The line of the check.
///   - file: The file of the check.
/// - Throws: ``Difference`` with both values if they differ.
func require<Value: Equatable>(
    _ actual: Value,
    equals expected: Value,
    _ what: @autoclosure () -> String,
    line: Int = #line,
    file: String = #fileID
) throws {
    guard actual != expected else { return }
    throw Difference(description: "\(what()) should be \(expected) and is \(actual) (\(file):\(line))")
}

/// Requires that a condition holds.
/// - Parameters:
///   - condition: The condition.
///   - rule: The rule that a failure breaks, as a sentence: "insert returns true". The function evaluates this argument only after a
///     failure.
///   - line: The line of the check.
///   - file: The file of the check.
/// - Throws: ``Difference`` if the condition is `false`.
func require(_ condition: Bool, _ rule: @autoclosure () -> String, line: Int = #line, file: String = #fileID) throws {
    guard !condition else { return }
    throw Difference(description: "\(rule()) (\(file):\(line))")
}

/// Requires that an operation throws. The function accepts any error, because each database has its own errors.
/// - Parameters:
///   - rule: The rule that a failure breaks, as a sentence: "insert throws for a taken id".
///   - line: The line of the check.
///   - file: The file of the check.
///   - operation: The operation, which must throw.
/// - Throws: ``Difference`` if the operation returns.
func requireFailure(
    _ rule: String,
    line: Int = #line,
    file: String = #fileID,
    of operation: () async throws -> Void
) async throws {
    do {
        try await operation()
    } catch {
        return
    }
    throw Difference(description: "\(rule) (\(file):\(line))")
}

/// Makes calls concurrently. The results are in the order in which the calls end.
///
/// The calls are tasks of one group. The number of calls that run at the same time depends on the cooperative thread pool and on the
/// connections of the store.
/// - Parameters:
///   - count: The number of calls.
///   - body: Makes the call with a number from 0 to `count - 1`.
/// - Throws: The first error of a call. The other calls are then canceled.
func concurrently<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
