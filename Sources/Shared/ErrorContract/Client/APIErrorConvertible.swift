/// An error that knows which ``APIError`` it is, such as a transport's, or one of the app's own.
public protocol APIErrorConvertible: Error {
    /// This error as the one typed error.
    /// - Parameter context: Where in the app it happened, such as `user_login`.
    func apiError(context: String?) -> APIError
}
