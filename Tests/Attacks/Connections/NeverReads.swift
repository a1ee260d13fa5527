import Foundation

/// Connections that send many requests at once and never read a response.
public struct NeverReads: Attack {
    public static let name = "never-reads"
    public static let abstract = "Take every connection with pipelined requests, and never read a response."

    private let size: AttackSize

    public init(size: AttackSize) { self.size = size }

    public var settings: [String: String] {
        AttackedServer.settingsOfConnections(size == .small ? ["MAX_CONNECTIONS": "16", "WRITE_TIMEOUT_SECONDS": "5"] : [:])
    }

    public func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        var report = AttackReport()
        let page = try await server.call("GET", "/docs").body.count
        let pages = size.pick(small: 2, full: 20)
        // A client that reads slowly gets all responses. It has its own network: among the users of one network, the server may close it.
        // Its first bytes arrive before the attack begins, so that the result doesn't depend on the speed of the machine.
        let (firstBytes, arrived) = AsyncStream.makeStream(of: Never.self)
        async let slowReader = Self.read(pages, from: server.url) { arrived.finish() }
        for await _ in firstBytes {}
        let connections = HeldConnections(to: try server.url)
        let clients = size.pick(small: 4, full: 42)
        let each = size.pick(small: 6, full: 100)
        let before = server.residentMemory
        progress("\(clients * each) connections of \(clients) clients")
        let requests = String(repeating: Self.request, count: 400)
        let opened = IdleConnections.open(connections) {
            for client in 0..<clients {
                try connections.open(each, from: AttackedServer.loopback(client), receiveBuffer: 4_096, sending: requests)
            }
        }
        report.note("opened", "\(opened) of \(clients * each)")
        let begin = ContinuousClock.now
        var largest = 0
        let (tally, _) = try await server.newcomers(
            until: {
                largest = max(largest, server.residentMemory)
                return connections.closedByServer() == connections.count
            },
            within: .seconds(size.pick(small: 180, full: 60))
        )
        report.require("Users meanwhile", served: tally, percent: AttackedServer.servedPercent(size))
        let closed = connections.closedByServer()
        report.require("All are closed", counted: "\(closed) of \(connections.count)", closed == connections.count)
        report.note("closed after", "\(Int((ContinuousClock.now - begin) / .seconds(1))) s")
        var (read, gap) = try await slowReader
        // If the machine has paused the reader, the server has correctly closed its connection. In that case, it reads once more.
        for _ in 0..<5 where size == .small && read <= pages * page && gap > .seconds(2) {
            (read, gap) = try await Self.read(pages, from: server.url) {}
        }
        report.require(
            "A slow reader gets \(pages) pages",
            counted: "\(read) bytes of \(pages * page) and heads",
            read > pages * page && page > 0
        )
        let memory = [before, largest, server.residentMemory].map { "\($0 >> 20) MB" }
        report.note("memory before, largest, after", memory.joined(separator: ", "))
        return report
    }

    private static let request = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n"

    /// Reads pages at 20 KB a second.
    /// - Parameter arrived: Called when the first bytes have arrived, or if there are none.
    /// - Returns: The number of bytes that arrived until the server closed the connection, and the longest time without any.
    private static func read(_ pages: Int, from url: URL, arrived: @Sendable () -> Void) async throws -> (
        bytes: Int, gap: Duration
    ) {
        defer { arrived() }
        let connection = HeldConnections(to: url)
        let requests = String(repeating: request, count: pages - 1) + "GET /docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        try connection.open(1, from: AttackedServer.loopback(249), receiveBuffer: 4_096, sending: requests)
        var (total, last, gap) = (0, ContinuousClock.now, Duration.zero)
        while true {
            let count = connection.read(atMost: 2_048)
            total += count
            gap = max(gap, ContinuousClock.now - last)
            if count > 0 {
                arrived()
                last = .now
            }
            if count == 0, connection.closedByServer() == 1 { return (total, gap) }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
