import AccountKit
import ErrorContract
import ErrorLabContract
import Foundation
import HoldfastTesting
import HoldfastURLSession
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ErrorLabModelTests {
    @Test(
        "The app's model runs every scenario as the contract describes",
        arguments: LabScenario.groups.map(\.rawValue)
    )
    func promises(group: String) async throws {
        try await withServer(time: LabScenario.clocks(of: group)) { server in
            for scenario in LabScenario.all() where scenario.group.rawValue == group { await tryOut(scenario, server.url) }
        }
    }

    @Test("The model uses the server's scenarios")
    func load() async throws {
        try await withServer { server in
            let model = await ErrorLabModel(baseURL: server.url, transport: .urlSession(), language: .english)
            await model.load()
            #expect(await model.loadFailure == nil)
            #expect(await model.scenarios == LabScenario.all())
        }
    }
}

/// Runs a scenario on a clock that advances whenever a task waits for it.
@MainActor
private func tryOut(_ scenario: LabScenario, _ url: URL) async {
    let clock = ManualClock()
    let model = ErrorLabModel(
        baseURL: url,
        transport: .urlSession(),
        language: .spanish,
        timeout: .seconds(300),
        clock: clock
    )
    let pump = Task {
        while !Task.isCancelled {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
    }
    await model.run(scenario)
    pump.cancel()
    // Waits until a sleeper exists, and is ended by this one.
    try? await clock.sleep(for: .seconds(1))
    guard let run = model.lastRun else {
        Issue.record("\(scenario.name) did not end")
        return
    }
    #expect(run.differences.isEmpty, "\(scenario.name)")
    #expect(!run.exchanges.isEmpty, "\(scenario.name)")
    #expect(run.error == nil || model.alert != nil, "\(scenario.name)")
}
