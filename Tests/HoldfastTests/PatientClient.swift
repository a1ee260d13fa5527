import Foundation
import Holdfast

extension APIClient {
    /// Creates the client of an example that has the standard timeouts. Here they are long, because a busy machine can pause for longer.
    init(baseURL: URL) {
        self.init(baseURL: baseURL, timeout: .seconds(300))
        attemptTimeout = .seconds(300)
    }
}
