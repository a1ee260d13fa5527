import Foundation

/// Connections that send the head of a request byte by byte, and never end it.
public struct SlowHeads: Attack {
    public static let name = "slow-heads"
    public static let abstract = "Take every connection, and send the head of a request byte by byte."

    private let size: AttackSize

    public init(size: AttackSize) { self.size = size }

    public var settings: [String: String] {
        AttackedServer.settingsOfConnections(size == .small ? ["MAX_CONNECTIONS": "64", "HEADER_TIMEOUT_SECONDS": "3"] : [:])
    }

    public func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        var report = AttackReport()
        let connections = HeldConnections(to: try server.url)
        let clients = size.pick(small: 10, full: 42)
        let each = size.pick(small: 8, full: 100)
        progress("\(clients * each) connections of \(clients) clients")
        let opened = IdleConnections.open(connections) {
            for client in 0..<clients {
                try connections.open(
                    each,
                    from: AttackedServer.loopback(client),
                    sending: "GET /health/live HTTP/1.1\r\nHost: x\r\nX-A: "
                )
            }
        }
        report.note("opened", "\(opened) of \(clients * each)")
        let begin = ContinuousClock.now
        let (tally, _) = try await server.newcomers(
            until: {
                connections.send("a")
                return connections.closedByServer() == connections.count
            },
            within: .seconds(size.pick(small: 180, full: 30))
        )
        report.require("Users meanwhile", served: tally, percent: AttackedServer.servedPercent(size))
        let closed = connections.closedByServer()
        report.require("All are closed", counted: "\(closed) of \(connections.count)", closed == connections.count)
        report.note("closed after", "\(Int((ContinuousClock.now - begin) / .seconds(1))) s")
        return report
    }
}
