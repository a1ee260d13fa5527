import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ScenarioTests {
    @Test(
        "Every scenario behaves as described, through the client and over a socket",
        arguments: LabScenario.groups.map(\.rawValue)
    )
    func promises(group: String) async throws {
        let scenarios = LabScenario.all().filter { $0.group.rawValue == group }
        #expect(!scenarios.isEmpty)
        try await withServer(time: LabScenario.clocks(of: group)) { server in
            for scenario in scenarios { await expectPromise(of: scenario, from: server.url) }
        }
    }

    @Test("The server lists the same scenarios")
    func listing() async throws {
        try await withServer { server in
            let listing: LabListing = try await APIClient.patient(server.url).get("/dev/lab/scenarios")
            #expect(listing == LabListing(scenarios: LabScenario.all()))
        }
    }
}

extension LabScenario {
    /// Returns the clocks of a server for the scenarios of a group; `nil` for those of the machine. For limits, they stand still: on a slow
    /// machine, the window of a minute would end between two calls.
    static func clocks(of group: String) -> ServerTime? {
        group == Group.limits.rawValue ? .manual(ManualClock()) : nil
    }
}

/// Makes the calls of a scenario in a new session, and compares the responses with its description.
private func expectPromise(of scenario: LabScenario, from url: URL) async {
    // Uses new connections: on a reused one libcurl repeats a lost GET automatically,
    // but the scenario describes the response to a single request.
    var client = APIClient(baseURL: url, transport: .urlSession(), timeout: .seconds(300), middleware: [])
    client.attemptTimeout = .seconds(300)
    if let timeout = scenario.timeoutMilliseconds { client.timeout = .milliseconds(timeout) }
    let place: (Int) -> Comment = { "\(scenario.name), call \($0)" }
    var tokens: LabTokens?
    do {
        tokens = try await openSession(scenario.credentials, client)
    } catch {
        Issue.record("\(scenario.name): no token: \(error)")
    }
    // One call more than described, because the last entry applies to all later calls. A limit resets only after its delay.
    let calls = scenario.calls > 1 ? scenario.calls : scenario.expected.count + (tokens == nil ? 1 : 0)
    for call in 1...calls {
        let expectation = scenario.expectation(ofCall: call)
        do throws(APIError) {
            // Refreshes between the first call and the next, like a client.
            if call == 2, let refresh = tokens?.refreshToken {
                tokens = try await client.post("/dev/lab/token/refresh", LabRefresh(refreshToken: refresh))
            }
            let differences = expectation.differences(from: try await send(scenario, tokens?.accessToken, client))
            #expect(differences.isEmpty, place(call))
        } catch {
            let differences = expectation.differences(from: error)
            #expect(differences.isEmpty, place(call))
        }
    }
}

private func openSession(_ credentials: LabScenario.Authorization, _ client: APIClient) async throws -> LabTokens? {
    guard let path = credentials.path else {
        let unknown = LabTokens(accessToken: "nobody.knows", refreshToken: "", lifetimeMilliseconds: 0)
        return credentials == .unknown ? unknown : nil
    }
    return try await client.post(LabPath.root + path, [String: String]())
}

private func send(_ scenario: LabScenario, _ token: String?, _ client: APIClient) async throws(APIError) -> LabSuccess {
    var headers: HTTPFields = [:]
    headers[.authorization] = token.map { "Bearer \($0)" }
    let path = scenario.path(session: scenario.name)
    guard scenario.method == "POST" else { return try await client.get(path, headers: headers) }
    return try await client.post(path, ["lab": "try"], headers: headers)
}
