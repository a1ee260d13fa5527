package import Foundation
package import NIOCore
import Synchronization

/// The address on which a server listens, available after it has started.
///
/// Any number of tasks can wait for the address. The first call of ``set(_:)`` sets it, and later calls have no effect.
package final class BoundAddress: Sendable {
    /// The address, or the tasks that wait for it.
    private let state = Mutex<State>(.waiting([]))

    /// Creates an address that is not known yet.
    package init() {}

    /// The states of the address. It is unknown at first. Later, it is known, or the server never listens.
    private enum State {
        /// The server has not started. The continuations belong to the waiting tasks.
        case waiting([CheckedContinuation<URL, any Error>])
        /// The server listens.
        case bound(URL)
        /// The server never listens.
        case abandoned
    }

    /// The address; `nil` until it is known.
    package var known: URL? {
        state.withLock { if case .bound(let url) = $0 { url } else { nil } }
    }

    /// Sets the address, which consists of the configured host and the port of a listening channel.
    /// - Parameters:
    ///   - channel: The channel. The method uses the port of the channel, because the system chooses this port if the configured port is 0.
    ///   - scheme: `http` or `https`.
    ///   - host: The configured host, without brackets.
    ///   - port: The configured port, if the channel has none.
    package func set(to channel: any Channel, scheme: String, host: String, port: Int) {
        let name = host.contains(":") ? "[\(host)]" : host
        if let url = URL(string: "\(scheme)://\(name):\(channel.localAddress?.port ?? port)") { set(url) }
    }

    /// Sets the address, and resumes the tasks that wait for it.
    package func set(_ url: URL) {
        for continuation in end(with: .bound(url)) { continuation.resume(returning: url) }
    }

    /// Resumes all waiting tasks with an error, because the server will never listen. If the address is already known, nothing happens.
    package func abandon() {
        for continuation in end(with: .abandoned) { continuation.resume(throwing: CancellationError()) }
    }

    /// Waits for the address. If one waiting task is canceled, the method throws in all waiting tasks, because the server is shutting down
    /// before it has started.
    /// - Throws: `CancellationError` if the server will never listen.
    package func get() async throws -> URL {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let state = state.withLock { state in
                    if case .waiting(let others) = state { state = .waiting(others + [continuation]) }
                    return state
                }
                switch state {
                case .waiting: break
                case .bound(let url): continuation.resume(returning: url)
                case .abandoned: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            abandon()
        }
    }

    /// Ends the state of waiting, and returns the tasks that waited. The caller resumes them outside of the lock.
    /// - Parameter new: The new state. It is not set if the address is already known or abandoned.
    private func end(with new: State) -> [CheckedContinuation<URL, any Error>] {
        state.withLock { state in
            guard case .waiting(let waiting) = state else { return [] }
            state = new
            return waiting
        }
    }
}

extension URL {
    /// The host and the port, as a request names its server: an IPv6 address is in brackets. `nil` if the address has no host.
    package var authority: String? { bracketedHost.map { addingPort(to: $0) } }

    /// Scheme, host and port as browsers send them in `Origin`: without the default port of the scheme.
    package var webOrigin: String? {
        guard let scheme = scheme?.lowercased(), let host = bracketedHost?.lowercased() else { return nil }
        return "\(scheme)://" + (port == (scheme == "https" ? 443 : 80) ? host : addingPort(to: host))
    }

    /// The host as clients send it: an IPv6 address is in brackets, and a name with other letters than ASCII is in Punycode. Unlike
    /// `encodedHost`, `host(percentEncoded:)` removes the brackets and encodes such letters in percent.
    private var bracketedHost: String? {
        guard let host = URLComponents(url: self, resolvingAgainstBaseURL: true)?.encodedHost, !host.isEmpty else { return nil }
        return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }

    /// Returns a host with the port of the address, if the address contains a port.
    private func addingPort(to host: String) -> String { port.map { "\(host):\($0)" } ?? host }
}
