import ServerMiddleware

/// The address for operators could not be listened on.
struct OpsListenFailure: Error {
    let address: OpsAddress
    let error: any Error
}

/// The address for operators, which serves `/metrics`, `/health/ready` and `/health/live`.
struct OpsAddress: Hashable, Sendable, CustomStringConvertible {
    /// The name or address, without brackets.
    let host: String
    /// 0 means any.
    let port: Int

    /// The address as it is set, such as `127.0.0.1:9100` or `[::1]:9100`.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `OPS_LISTEN`.
    /// - Parameter hasToken: Whether `METRICS_TOKEN` is required of clients, so that other machines may reach the address.
    init?(_ settings: inout SettingReader, hasToken: Bool) {
        guard let text = settings.text("OPS_LISTEN") else { return nil }
        guard let host = RequestHost(text)?.name, let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), host.contains(":") == text.hasPrefix("[")
        else {
            settings.refuse("OPS_LISTEN", "must be an address and a port such as 127.0.0.1:9100 or [::1]:9100 (is “\(text)”)")
            return nil
        }
        guard hasToken || RequestHost.isLoopback(host) else {
            settings.refuse(
                "OPS_LISTEN",
                "must be a loopback address such as 127.0.0.1:9100 unless METRICS_TOKEN is set (is “\(text)”)"
            )
            return nil
        }
        self.init(host: host, port: port)
    }
}
