import Synchronization

/// A list to which concurrent tasks of a test append values.
final class Recorded<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) {
        state = Mutex(value)
    }

    var value: Value { state.withLock { $0 } }

    func update(_ change: @Sendable (inout Value) -> Void) { state.withLock { change(&$0) } }
}
