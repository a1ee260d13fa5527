public import Foundation

/// For code that knows nothing of this library, such as `Text(error.localizedDescription)`.
extension APIError: LocalizedError {
    /// The message of the error's presentation, in the language of the client that made the call.
    ///
    /// An error that no client made, such as one of `APIError(_:context:)`, is described in the language
    /// of the device's user (``Language/preferred(from:available:fallback:)``).
    public var errorDescription: String? {
        presentation(in: language ?? .preferred(), now: Date()).message
    }
}
