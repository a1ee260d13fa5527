import Foundation
import TestSupport
import Testing

/// A foreign server in its own process, with a temporary folder, on a free port.
final class ForeignServer: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: Int
    let folder: URL
    private let process: Process

    var base: String { "http://127.0.0.1:\(port)" }

    /// Starts a server, runs a closure, and ends the server by its process id.
    static func with(_ start: (URL) async throws -> ForeignServer, _ body: (ForeignServer) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "foreign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try await start(folder)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Starts a server of `Tests/ForeignServers`, which prints its port.
    static func python(_ name: String) -> @Sendable (URL) async throws -> ForeignServer {
        { folder in
            let script = Self.root.appending(path: "Tests/ForeignServers/\(name).py")
            let output = Pipe.make()
            let process = Process()
            process.executableURL = try TestSupport.python(of: "foreign-servers", from: "scripts/foreign-servers")
            process.arguments = [script.path, folder.path]
            process.environment = ["PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"]
            process.standardOutput = output
            let line = try await process.start(readingFirstLineOf: output)
            guard let port = Int(line) else {
                if process.isRunning { process.terminate() }
                throw Failure(description: "\(name).py printed no port: \(line)")
            }
            return ForeignServer(port: port, folder: folder, process: process)
        }
    }

    /// Starts nginx with its built-in pages, as Debian packages it.
    static let nginx: @Sendable (URL) async throws -> ForeignServer = { folder in
        let candidates = ["/usr/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        guard let program = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw Failure(description: "nginx is in none of \(candidates): run scripts/foreign-servers")
        }
        var failure = ""
        // Another process may use the port between its choice and the start of nginx.
        for _ in 0..<3 {
            let port = try freePort()
            let configuration = folder.appending(path: "nginx.conf")
            try ForeignServer.configuration(port: port, folder: folder).write(
                to: configuration,
                atomically: true,
                encoding: .utf8
            )
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = ["-p", folder.path, "-e", "stderr", "-c", configuration.path]
            process.standardError = try FileHandle(forWritingTo: folder.emptyFile(named: "errors"))
            try process.start()
            while process.isRunning {
                if isListening(port) { return ForeignServer(port: port, folder: folder, process: process) }
                try await Task.sleep(for: .milliseconds(10))
            }
            failure = (try? String(contentsOf: folder.appending(path: "errors"), encoding: .utf8)) ?? ""
        }
        throw Failure(description: "nginx does not start: \(failure)")
    }

    private init(port: Int, folder: URL, process: Process) {
        (self.port, self.folder, self.process) = (port, folder, process)
    }

    /// Returns the text of a file that the server has written into its folder.
    func text(of file: String) throws -> String {
        try String(contentsOf: folder.appending(path: file), encoding: .utf8)
    }

    private func stop() async {
        process.terminate()
        _ = await process.ended()
    }
}

extension ForeignServer {
    static let root = Repository.root

    private static func configuration(port: Int, folder: URL) -> String {
        """
        daemon off;
        master_process off;
        pid \(folder.path)/pid;
        events {}
        http {
            access_log off;
            server_tokens off;
            client_body_temp_path \(folder.path)/client;
            proxy_temp_path \(folder.path)/proxy;
            fastcgi_temp_path \(folder.path)/fastcgi;
            uwsgi_temp_path \(folder.path)/uwsgi;
            scgi_temp_path \(folder.path)/scgi;
            limit_req_zone $host zone=one:1m rate=1r/m;
            server {
                listen 127.0.0.1:\(port);
                root \(folder.path)/nothing;
                location /bad-gateway { proxy_pass http://127.0.0.1:1; }
                location /unavailable { return 503; }
                location /small { client_max_body_size 1k; proxy_pass http://127.0.0.1:1; }
                location /limited { limit_req zone=one; limit_req_status 429; empty_gif; }
            }
        }
        """
    }
}

extension URL {
    /// Creates an empty file in this folder.
    fileprivate func emptyFile(named name: String) throws -> URL {
        let file = appending(path: name)
        try Data().write(to: file)
        return file
    }
}
