import NIOCore
import NIOPosix

/// A search index that nobody runs.
enum Dependency {
    /// Connects to it.
    /// - Throws: What the system says about a port where nobody listens.
    static func reach() async throws {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(.seconds(1))
            .connect(host: "127.0.0.1", port: 1)
            .get()
        try await channel.close()
    }
}

/// What a handler throws that met a bug: its text is nobody's business.
struct Bug: Error, CustomStringConvertible {
    var description: String { "SELECT hunter2 FROM secrets failed in /srv/notes/store.swift" }
}
