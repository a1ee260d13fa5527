import AccountStoreTesting
import Foundation
import Synchronization

extension PlainHashing {
    /// The passwords whose hashing has begun, in order, without that of the decoy.
    var begun: [String] { Array(hashed.dropFirst()) }
}

/// A wall clock that advances only when a test moves it.
final class WallClock: Sendable {
    private let date = Mutex(Date.after(0))

    var now: @Sendable () -> Date { { self.date.withLock { $0 } } }

    func advance(by seconds: TimeInterval) {
        date.withLock { $0 = $0.addingTimeInterval(seconds) }
    }
}

/// Yields to other tasks until a condition is true.
func until(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

/// Runs calls concurrently and returns their results.
func concurrently<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// Runs a test with a new folder that is removed afterwards.
func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}
