import RateLimiting
import Testing

@Suite struct AdaptiveLearningTests {
    private static let second: Int64 = 1_000_000_000
    private static let hidden: [(quota: Int, window: Int64)] = [(1, 20), (5, 30), (12, 60), (100, 60), (100, 3_600)]

    private static func simulation(
        _ hidden: (quota: Int, window: Int64),
        counting: SimulatedServer.Counting = .ring,
        telling: SimulatedServer.Telling,
        callers: Int
    ) -> Simulation {
        let window = hidden.window * second
        let server = SimulatedServer(quota: hidden.quota, window: window, counting: counting, telling: telling)
        var simulation = Simulation(
            server,
            own: .requests(hidden.quota * 3, per: .nanoseconds(window)),
            latency: (window / 10_000)...(window / 200),
            seed: UInt64(callers + hidden.quota)
        )
        simulation.callers = callers
        return simulation
    }

    @Test(
        "Alone at an unknown ring limit, a client is never refused after one window",
        arguments: [SimulatedServer.Telling.everything, .quota, .remaining],
        [1, 2, 5, 10, 32, 100]
    )
    func alone(telling: SimulatedServer.Telling, callers: Int) {
        for hidden in Self.hidden {
            for isSpread in [false, true] {
                var simulation = Self.simulation(hidden, telling: telling, callers: callers)
                simulation.isSpread = isSpread
                let outcome = simulation.run()
                #expect(outcome.refused == 0, "\(hidden)")
                #expect(outcome.used >= 0.97, "\(hidden)")
            }
        }
    }

    @Test("With other clients at the limit, uses most of the rest with few refusals", arguments: [10, 50])
    func shared(percent: Int) {
        for (index, hidden) in Self.hidden.enumerated() where hidden.quota >= 12 {
            for callers in [1, 5, 32, 100] {
                var simulation = Self.simulation(hidden, telling: .everything, callers: callers)
                simulation.strangers = max(1, hidden.quota * percent / 100)
                simulation.isSpread = index.isMultiple(of: 2)
                let outcome = simulation.run()
                #expect(outcome.refusedShare <= 0.12, "\(hidden), \(callers) callers")
                #expect(outcome.used >= 0.9 - Double(percent) / 100, "\(hidden), \(callers) callers")
            }
        }
    }

    @Test(
        "Obeys servers that count in other ways",
        arguments: [SimulatedServer.Counting.fixedWindow, .paced],
        [SimulatedServer.Telling.everything, .quota, .remaining]
    )
    func otherCounting(counting: SimulatedServer.Counting, telling: SimulatedServer.Telling) {
        for hidden in Self.hidden where hidden.quota >= 5 {
            for callers in [1, 10, 100] {
                var simulation = Self.simulation(hidden, counting: counting, telling: telling, callers: callers)
                let outcome = simulation.run()
                #expect(outcome.refusedShare <= (telling == .remaining ? 0.15 : 0.02), "\(hidden), \(callers) callers")
                #expect(outcome.used >= 0.97, "\(hidden), \(callers) callers")
            }
        }
    }

    @Test("Finds the limit of a server without hints by halving and recovering")
    func silent() {
        for hidden in Self.hidden where hidden.quota >= 12 {
            for callers in [1, 10, 100] {
                var simulation = Self.simulation(hidden, telling: .nothing, callers: callers)
                let outcome = simulation.run()
                #expect(outcome.refusedShare <= 0.1, "\(hidden), \(callers) callers")
                #expect(outcome.used >= 0.7, "\(hidden), \(callers) callers")
            }
        }
    }
}
