/// A reply of Valkey or Redis.
public enum ValkeyReply: Hashable, Sendable {
    /// Bytes, or a status such as `OK`.
    case text([UInt8])
    /// An integer.
    case integer(Int)
    /// No value.
    case null
    /// A list of replies.
    indirect case array([ValkeyReply])
    /// An error of one command, such as `NOSCRIPT`.
    case error(String)
}
