/// A reply of Valkey or Redis, with the types of RESP 2. A reply has at most about 1 MiB, and an array has at most 65,536 elements.
public enum ValkeyReply: Hashable, Sendable {
    /// Bytes, or a status such as `OK`.
    case text([UInt8])
    /// An integer.
    case integer(Int)
    /// No value.
    case null
    /// A list of replies.
    indirect case array([ValkeyReply])
    /// An error of one command, such as `NOSCRIPT`. If a whole reply is an error, `ValkeyClient` throws it, so only elements of an array
    /// can have this form.
    case error(String)
}
