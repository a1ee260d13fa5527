import Foundation

/// What attacks with many connections share: the addresses that they come from, and the innocent users who come meanwhile.
extension AttackedServer {
    /// The settings of a server that takes each loopback address for a client.
    static func settingsOfConnections(_ more: [String: String]) -> [String: String] {
        more.merging(["TRUSTED_PROXIES": ""]) { $1 }
    }

    /// How long a user waits for a response.
    static let patience = Duration.seconds(20)

    /// How many percent of the users must be served. With 16 places on a slow machine, connections of the attack are still being
    /// accepted while the first users come.
    static func servedPercent(_ size: AttackSize) -> Int { size.pick(small: 90, full: 99) }

    /// A loopback address in a /24 network of its own.
    static func loopback(_ number: Int) -> String { "127.\(1 + number / 250).\(1 + number % 250).7" }

    /// Calls of innocent users one after another, each over a connection of its own from 127.0.0.1.
    func newcomers(_ count: Int, path: String = "/health/live") async throws -> Tally {
        try await tally(count, atOnce: 4) { _ in
            try await self.call("GET", path, fields: ["Connection": "close"], timeout: Self.patience).status
        }
    }

    /// Waits until a count is reached, while innocent users come.
    /// - Returns: The calls of innocent users, and whether the count was reached.
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
