public import Observability

/// A store could not do its work.
public struct StoreFailure: LogSafeError, Hashable, Sendable {
    /// Whether somebody else was in the way, so that trying again may help.
    public let isBusy: Bool
    /// What the store said, without anything that was stored.
    public let message: String

    /// Creates a failure.
    public init(isBusy: Bool, message: String) {
        self.isBusy = isBusy
        self.message = message
    }

    public var description: String { message }
}
