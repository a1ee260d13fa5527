import AccountContract
import Foundation

extension AttackedServer {
    /// Requests a reset email.
    func requestReset(_ email: String, from client: String) async throws -> Int {
        try await call("POST", AccountPath.requestPasswordReset, body: #"{"email":"\#(email)"}"#, from: client).status
    }

    /// The local mailbox.
    var mailbox: URL { folder.appending(path: "data/mailbox") }

    /// Returns the number of emails per address in the local mailbox.
    func recipients() throws -> [String: Int] {
        let names = try FileManager.default.contentsOfDirectory(atPath: mailbox.path).filter { $0.hasSuffix(".eml") }
        return names.reduce(into: [:]) { counts, name in
            guard let data = FileManager.default.contents(atPath: mailbox.appending(path: name).path) else { return }
            let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            guard let line = lines.first(where: { $0.hasPrefix("To: ") }) else { return }
            counts[line.dropFirst(4).trimmingCharacters(in: CharacterSet(charactersIn: "<> ")), default: 0] += 1
        }
    }

    /// The email queue as JSON.
    func queue() async throws -> String {
        try await run(["mail", "queue", "--json"]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits until a condition is true, at most a minute. If the server shares the processors with other tests, waits three minutes.
    /// - Returns: The elapsed time; `nil` if the condition did not become true.
    func wait(until holds: (AttackedServer) async throws -> Bool) async throws -> Duration? {
        let begin = ContinuousClock.now
        let limit: Duration = hasOwnProcessors ? .seconds(60) : .seconds(180)
        while try await !holds(self) {
            guard ContinuousClock.now - begin < limit else { return nil }
            try await Task.sleep(for: .milliseconds(100))
        }
        return ContinuousClock.now - begin
    }
}

extension AttackReport {
    /// Requires that an event happened before ``AttackedServer/wait(until:)`` ended, and adds the time that it took as a fact.
    mutating func require(_ text: String, within wait: Duration?) {
        require("\(text) in time", counted: wait.map { "after \(Int($0 / .seconds(1))) s" } ?? "not", wait != nil)
    }
}
