package import Foundation
package import NIOCore
import Synchronization

/// Where the server listens, known once it does.
package final class BoundAddress: Sendable {
    private let state = Mutex<State>(.waiting([]))

    package init() {}

    private enum State {
        case waiting([CheckedContinuation<URL, any Error>])
        case bound(URL)
        case abandoned
    }

    /// The address, if it is known yet.
    package var known: URL? {
        state.withLock { if case .bound(let url) = $0 { url } else { nil } }
    }

    /// Makes the address of a channel known that listens on a host.
    package func set(to channel: any Channel, scheme: String, host: String, port: Int) {
        let name = host.contains(":") ? "[\(host)]" : host
        if let url = URL(string: "\(scheme)://\(name):\(channel.localAddress?.port ?? port)") { set(url) }
    }

    /// Makes the address known.
    package func set(_ url: URL) {
        for continuation in end(with: .bound(url)) { continuation.resume(returning: url) }
    }

    /// Ends the wait for an address that will never be known, unless it is.
    package func abandon() {
        for continuation in end(with: .abandoned) { continuation.resume(throwing: CancellationError()) }
    }

    /// Waits for the address. One cancelled wait ends all: the server is going down before it came up.
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

    private func end(with new: State) -> [CheckedContinuation<URL, any Error>] {
        state.withLock { state in
            guard case .waiting(let waiting) = state else { return [] }
            state = new
            return waiting
        }
    }
}

extension URL {
    /// Scheme, host and port as a browser writes them in `Origin`: the scheme's own port is left out.
    package var webOrigin: String? {
        guard let scheme = scheme?.lowercased(), let host = host(percentEncoded: true)?.lowercased() else { return nil }
        let usual = scheme == "https" ? 443 : 80
        return port.map { $0 == usual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\($0)" } ?? "\(scheme)://\(host)"
    }
}
