import Foundation

/// Connections that make one request and then stay open: all from one client, then from many clients.
public struct IdleConnections: Attack {
    public static let name = "idle-connections"
    public static let abstract = "Take every connection, from one client and then from 300, and send nothing more."

    private let size: AttackSize
    private var capacity: Int { size.pick(small: 64, full: 4_096) }
    private var perClient: Int { size.pick(small: 16, full: 128) }

    public init(size: AttackSize) { self.size = size }

    public var settings: [String: String] {
        AttackedServer.settingsOfConnections(
            size == .small ? ["MAX_CONNECTIONS": "64", "MAX_CONNECTIONS_PER_CLIENT": "16"] : [:]
        )
    }

    public func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        var report = AttackReport()
        let request = "GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
        let one = size.pick(small: 100, full: 4_201)
        progress("\(one) connections of one client")
        do {
            let connections = HeldConnections(to: try server.url)
            let opened = Self.open(connections) { try connections.open(one, from: "127.9.9.9", sending: request) }
            let (tally, _) = try await server.newcomers(until: { false }, within: .seconds(size.pick(small: 1, full: 20)))
            report.note("opened by one client", "\(opened) of \(one)")
            report.require("Users during \(one) connections of one client", served: tally, percent: 100)
            let open = connections.count - connections.closedByServer()
            report.require("One client holds at most \(perClient)", counted: "\(open)", open <= perClient)
        }
        let clients = size.pick(small: 30, full: 300)
        let each = size.pick(small: 4, full: 14, tenfold: 40)
        progress("\(clients * each) connections of \(clients) clients")
        let connections = HeldConnections(to: try server.url)
        let opened = Self.open(connections) {
            for client in 0..<clients { try connections.open(each, from: AttackedServer.loopback(client), sending: request) }
        }
        report.note("opened by \(clients) clients", "\(opened) of \(clients * each)")
        // With the maximum number of idle connections, each new connection displaces one.
        var tally = try await server.newcomers(size.pick(small: 40, full: 400))
        let (more, _) = try await server.newcomers(until: { false }, within: .seconds(size.pick(small: 0, full: 20)))
        tally.add(more)
        report.require(
            "Users during \(clients * each) connections of \(clients) clients",
            served: tally,
            percent: AttackedServer.servedPercent(size)
        )
        let open = connections.count - connections.closedByServer()
        report.require("At most \(capacity) connections are open", counted: "\(open)", open <= capacity)
        report.note("memory", "\(server.residentMemory >> 20) MB")
        return report
    }

    /// Opens as many connections as the server accepts.
    /// - Returns: The number of connections.
    static func open(_ connections: HeldConnections, _ body: () throws -> Void) -> Int {
        try? body()
        return connections.count
    }
}
