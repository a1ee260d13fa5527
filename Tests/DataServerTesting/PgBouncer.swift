import Foundation
import TestSupport

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
