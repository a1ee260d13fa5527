public import Logging

/// An error whose description may stand in a log: it holds no secret, no address, nothing that a person has typed.
public protocol LogSafeError: Error, CustomStringConvertible {}

extension Logger.Metadata {
    /// What a log tells of an error: its type, and what it says of itself if that is safe to keep.
    /// - Parameter more: What stands beside it.
    public static func failure(_ error: any Error, _ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["error.type": "\(type(of: error))"]
        if let error = error as? any LogSafeError { metadata["error.message"] = "\(error)" }
        return metadata.merging(more) { _, more in more }
    }
}
