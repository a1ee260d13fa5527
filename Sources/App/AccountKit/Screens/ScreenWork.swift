public import Observation

/// Runs the actions that a user starts on a screen, one at a time.
///
/// A button requests an action with ``start(_:)``. The screen runs it with ``run()`` at its root. The work therefore goes on when the
/// button's row scrolls away, when a list reloads, and when the alert closes whose button started it. It is canceled when the screen
/// itself disappears.
///
/// ```swift
/// Form {
///     Button("Save") { model.work.start { await model.save() } }
/// }
/// .task(id: model.work.request) { await model.work.run() }
/// ```
@Observable
@MainActor
public final class ScreenWork {
    /// The number of the action that is requested or running, `nil` if there is none. The `id` of the screen's `.task`.
    public private(set) var request: Int?
    @ObservationIgnored private var action: (@MainActor () async -> Void)?
    @ObservationIgnored private var count = 0

    /// Creates a slot without an action.
    public nonisolated init() {}

    /// Whether an action is requested or running.
    public var isBusy: Bool { request != nil }

    /// Requests an action. Ignored while another one is requested or running, so that a second press has no effect.
    /// - Returns: Whether the action is accepted.
    @discardableResult
    public func start(_ action: @escaping @MainActor () async -> Void) -> Bool {
        guard request == nil else { return false }
        count += 1
        self.action = action
        request = count
        return true
    }

    /// Runs the requested action and returns at its end; returns at once if there is none, or if it is running already.
    ///
    /// The action runs in the caller's task. When that task is canceled, the action ends, and is not run again.
    public func run() async {
        guard let action else { return }
        self.action = nil
        defer { request = nil }
        await action()
    }
}
