import Foundation
import HTTPTypes
import HoldfastURLSession
import Testing

@testable import ResilientHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The brown-out of `scripts/brown-out` in simulated time.
@Suite("A server at a fifth of its capacity") struct BrownOutTests {
    @Test("Mobile clients with hints send half a request per call at nearly full capacity")
    func phones() throws {
        let ours = try BrownOut(clients: 100, rate: 0.4).run { ClientPipeline.standard() }
        #expect(ours.attemptsPerCall <= 0.55, "\(ours.attemptsPerCall)")
        #expect(ours.goodput >= 0.8, "\(ours.goodput)")
        // Of so few requests a healthy server also refuses one in a thousand, if they arrive at the same time.
        #expect(ours.success(from: .seconds(10)) > 0.95, "\(ours.success(from: .seconds(10)))")
    }

    @Test("At a silent server mobile clients send no extra load and recover at once")
    func silent() throws {
        let brownOut = BrownOut(clients: 100, rate: 0.4, refusal: .silent, seed: 3)
        let (ours, plain) = (try brownOut.run { ClientPipeline.standard() }, try brownOut.run { [] })
        #expect(ours.attemptsPerCall <= 1.05, "\(ours.attemptsPerCall)")
        #expect(ours.goodput >= plain.goodput, "\(ours.goodput), without retries \(plain.goodput)")
        #expect(ours.success(to: .seconds(3)) >= 0.95, "\(ours.success(to: .seconds(3)))")
    }

    @Test("The adapters behave like the client, within 5%", arguments: [BrownOut.Refusal.named, .silent])
    func adapters(refusal: BrownOut.Refusal) throws {
        let brownOut = BrownOut(clients: 60, rate: 0.4, refusal: refusal, seed: 3)
        let ours = try brownOut.run { ClientPipeline.standard() }
        let url = try #require(URL(string: "https://api.example.org/a"))
        let adapters: [BrownOut.Caller] = [
            { client, _ in
                let response = try? await HoldfastSession(client).data(from: url).1
                return (response as? HTTPURLResponse)?.statusCode == 200
            },
            { client, server in
                let generated = GeneratedClient(baseURL: client.baseURL, middleware: HoldfastMiddleware(api: client)) {
                    request,
                    _ in
                    (try await server.send(request, body: nil, timeout: .seconds(86_400)).0, [])
                }
                let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/a")
                return (try? await generated.call("get", request).0.status) == .ok
            },
        ]
        for adapter in adapters {
            let theirs = try brownOut.run(calling: adapter) { ClientPipeline.standard() }
            for (mine, other) in [
                (ours.attemptsPerCall, theirs.attemptsPerCall), (ours.goodput, theirs.goodput),
                (ours.success(), theirs.success()),
            ] { #expect(abs(other - mine) <= 0.05 * mine, "\(mine), with the adapter \(other)") }
        }
    }

    @Test("Services use the server's capacity and send few requests in vain", arguments: [4, 10])
    func services(clients: Int) throws {
        let ours = try BrownOut(clients: clients, rate: 20).run { ClientPipeline.standard() }
        #expect(ours.attemptsPerCall <= 0.33, "\(ours.attemptsPerCall)")
        #expect(ours.goodput >= 0.9, "\(ours.goodput)")
    }

    @Test("Without a gate, retries multiply the server's refusals, and the test detects it")
    func withoutGate() throws {
        let retrying = try BrownOut(clients: 100, rate: 0.4).run { [RetryMiddleware()] }
        #expect(retrying.attemptsPerCall > 1, "\(retrying.attemptsPerCall)")
    }

    /// The search of `docs/contributing/benchmarks.md`:
    /// `HOLDFAST_ROUNDS=4 swift test --traits Server -c release -Xswiftc -enable-testing --filter BrownOutTests.search`.
    private static let seeds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { UInt64($0) } ?? 0

    @Test("A longer stretch serves more and recovers later", .enabled(if: Self.seeds > 0))
    func search() throws {
        print("| stretch of a closed gate | again | attempts per call | goodput | success in 5 s after | 99 % after |")
        print("|---|---|---|---|---|---|")
        for first in [0...0.5, 1...2, 2...3, 3...4] as [ClosedRange<Double>] {
            for again in [0.5...1, 2...2.5, 3.5...4, 4...4.5] as [ClosedRange<Double>] {
                var rules = GateRules()
                rules.host = .init(first, longest: .seconds(60))
                rules.hostAgain = .init(again, longest: .seconds(60))
                let outcomes = try (0..<Self.seeds).map { seed in
                    try BrownOut(clients: 200, rate: 0.4, seed: seed).run { ClientPipeline.standard(gate: GateMiddleware(rules)) }
                }
                func mean(_ value: (BrownOut.Outcome) -> Double) -> Double {
                    outcomes.reduce(0) { $0 + value($1) } / Double(outcomes.count)
                }
                let measurements = [
                    String(format: "%.2f", mean(\.attemptsPerCall)), String(format: "%.0f %%", mean(\.goodput) * 100),
                    String(format: "%.0f %%", mean { $0.success(to: .seconds(5)) } * 100),
                    String(format: "%.0f s", mean { Double($0.secondsToRecover) }),
                ]
                print("| \(first) | \(again) | \(measurements.joined(separator: " | ")) |")
            }
        }
    }
}
