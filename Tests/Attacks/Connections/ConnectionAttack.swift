import Foundation

/// Parts that attacks with many connections share: their addresses, and the legitimate users meanwhile.
extension AttackedServer {
    /// Returns the settings of a server that treats each loopback address as a client.
    static func settingsOfConnections(_ more: [String: String]) -> [String: String] {
        more.merging(["TRUSTED_PROXIES": ""]) { $1 }
    }

    /// The time that a user waits for a response.
    static let patience = Duration.seconds(20)

    /// Returns the percentage of users that must be served. With 16 places on a slow machine, the server still accepts connections of the
    /// attack when the first users arrive.
    static func servedPercent(_ size: AttackSize) -> Int { size.pick(small: 90, full: 99) }

    /// Returns a loopback address in a separate /24 network.
    static func loopback(_ number: Int) -> String { "127.\(1 + number / 250).\(1 + number % 250).7" }

    /// Makes calls of legitimate users one after another, each over a new connection from 127.0.0.1.
    func newcomers(_ count: Int, path: String = "/health/live") async throws -> Tally {
        try await tally(count, atOnce: 4) { _ in
            try await self.call("GET", path, fields: ["Connection": "close"], timeout: Self.patience).status
        }
    }

    /// Waits until a count is reached, while legitimate users make calls.
    /// - Returns: The calls of legitimate users, and whether the count was reached.
    func newcomers(until isDone: () -> Bool, within time: Duration, pause: Duration = .milliseconds(200)) async throws -> (
        Tally, Bool
    ) {
        var tally = Tally()
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            if isDone() { return (tally, true) }
            tally.add(try await call("GET", "/health/live", fields: ["Connection": "close"], timeout: Self.patience).status)
            try await Task.sleep(for: pause)
        }
        return (tally, isDone())
    }
}

extension Tally {
    /// Adds the calls of another tally.
    mutating func add(_ other: Tally) {
        for (status, count) in other.statuses { for _ in 0..<count { add(status) } }
    }
}
