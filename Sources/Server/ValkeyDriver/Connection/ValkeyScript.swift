import Synchronization

/// A Lua script that the server stores and executes by its digest.
///
/// A client loads its scripts when it opens a connection. If the server has removed a script since then, the client sends the text of the
/// script again.
///
/// Use a script to read and write several keys atomically. Create each script once, as a static constant, because the object stores the
/// digest that the server returns.
public final class ValkeyScript: Sendable {
    /// The text of the script.
    public let text: String
    private let knownDigest = Mutex<String?>(nil)

    /// Creates a script.
    /// - Parameter text: The Lua code. The keys are in `KEYS`, the arguments in `ARGV`.
    public init(_ text: String) {
        self.text = text
    }

    /// The digest that the server returned; `nil` before the first connection.
    var digest: String? {
        get { knownDigest.withLock { $0 } }
        set { knownDigest.withLock { $0 = newValue } }
    }

    /// Returns the command that executes the script.
    /// - Parameters:
    ///   - digest: The digest; `nil` sends the text of the script.
    ///   - keys: The keys.
    ///   - arguments: The arguments.
    func call(by digest: String?, keys: [[UInt8]], arguments: [[UInt8]]) -> ValkeyCommand {
        var command = digest.map { ValkeyCommand("EVALSHA", $0) } ?? ValkeyCommand("EVAL", text)
        command.append(String(keys.count))
        for key in keys { command.append(key) }
        for argument in arguments { command.append(argument) }
        return command
    }
}
