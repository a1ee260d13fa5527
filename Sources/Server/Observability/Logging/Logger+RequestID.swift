public import Logging

extension Logger {
    /// Where a line's metadata have the id of the request that it belongs to; the name is Hummingbird's.
    public static let requestIDKey = "hb.request.id"
}
