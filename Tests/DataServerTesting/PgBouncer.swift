import Foundation

/// PgBouncer in transaction mode, in front of a server.
package struct PgBouncer: Sendable {
    package let port: Int

    /// Starts PgBouncer, which ends with this process.
    package static func start(for server: PostgresServer) async throws -> PgBouncer {
        let port = try freePort()
        let folder = try PostgresProcesses.folder.get().appending(path: "b\(port)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try PostgresProcesses.give(folder)
        let configuration = """
            [databases]
            * = host=127.0.0.1 port=\(server.port) user=app
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = 2
            """
        let file = folder.appending(path: "pgbouncer.ini")
        try Data(configuration.utf8).write(to: file)
        try PostgresProcesses.serve(
            [PostgresProcesses.program("/usr/sbin/pgbouncer"), file.path],
            log: folder.appending(path: "log")
        )
        try await waitUntil("PgBouncer starts: \(folder.path)/log") { isListening(port) }
        return PgBouncer(port: port)
    }
}

/// Returns whether a port of the loopback accepts connections.
package func isListening(_ port: Int) -> Bool {
    #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
