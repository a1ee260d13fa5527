/// The reason why a command failed. No error contains the URL, the password, keys, or other parts of a command.
///
/// After ``unavailable``, ``configuration(code:)``, ``store(code:)`` and ``refused(code:)``, the server has certainly not executed the
/// command. After any other error, the server may have executed it. If the reply to another command ends the connection, a command in
/// flight fails with ``connectionLost``.
public enum ValkeyError: Error, Hashable, Sendable {
    /// No connection is ready, or the client could not send the command before its deadline. The command was not sent.
    case unavailable
    /// The reply did not arrive by the deadline. The server may still execute the command.
    case timedOut
    /// The connection was lost. The server may have executed the command.
    case connectionLost
    /// The server sent bytes that are not a reply, or a reply that is too large.
    case protocolViolation
    /// The server can't execute commands now. The code is, for example, `LOADING`, `BUSY`, `OOM`, `READONLY`, or `MASTERDOWN`.
    case store(code: String)
    /// The settings of the client or the server are wrong. The code is, for example, `WRONGPASS`, `NOAUTH`, `MOVED`, or `CROSSSLOT`.
    case configuration(code: String)
    /// The server refused the command for another reason. The code is, for example, `NOSCRIPT`.
    case refused(code: String)
    /// The client was closed before the command was sent, or while it was in flight.
    case closed

    /// Creates the error of a reply from its text. The error contains only the first word, because the other words can contain keys.
    init(text: String) {
        let word = text.prefix { $0 != " " }
        let code = word.count <= 20 && word.allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber) }) ? String(word) : "ERR"
        switch code {
        case "LOADING", "BUSY", "OOM", "READONLY", "MASTERDOWN", "MISCONF", "NOREPLICAS", "TRYAGAIN", "CLUSTERDOWN":
            self = .store(code: code)
        case "NOAUTH", "WRONGPASS", "NOPERM", "MOVED", "ASK", "CROSSSLOT", "DENIED":
            self = .configuration(code: code)
        default:
            self = .refused(code: code)
        }
    }

    /// Whether the client must close the connection after this error. A new connection may reach a server that can execute commands.
    var endsConnection: Bool {
        switch self {
        case .store(let code): code != "OOM"
        case .configuration(let code): code == "NOAUTH" || code == "WRONGPASS"
        case .refused: false
        case .unavailable, .timedOut, .connectionLost, .protocolViolation, .closed: true
        }
    }

    /// The name of the reason in metrics.
    var reason: String {
        switch self {
        case .unavailable: "unavailable"
        case .timedOut: "timeout"
        case .connectionLost: "connection_lost"
        case .protocolViolation: "protocol"
        case .store(let code), .configuration(let code): code.lowercased()
        case .refused: "refused"
        case .closed: "closed"
        }
    }
}

extension ValkeyError: CustomStringConvertible {
    /// The reason for a log. It contains at most the first word of the server's text.
    public var description: String {
        switch self {
        case .unavailable: "Valkey is unavailable"
        case .timedOut: "Valkey did not reply in time"
        case .connectionLost: "the connection to Valkey was lost"
        case .protocolViolation: "Valkey sent an invalid reply"
        case .store(let code): "Valkey can't execute commands (\(code))"
        case .configuration(let code): "the settings of Valkey are wrong (\(code))"
        case .refused(let code): "Valkey refused a command (\(code))"
        case .closed: "the Valkey client is closed"
        }
    }
}
