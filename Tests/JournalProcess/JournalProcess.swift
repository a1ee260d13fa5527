import Foundation
import JournalTesting

@main enum JournalProcess {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "simulate": simulate(arguments.dropFirst().compactMap { UInt64($0) })
        case "kill": try await kill(arguments.dropFirst().compactMap { UInt64($0) })
        case "append" where arguments.count == 3:
            try await RecordWriter(folder: arguments[2], name: UInt8(arguments[3]) ?? 0).run()
        case "open" where arguments.count == 2: try await JournalBenchmark.open(arguments[2])
        case "bench": try await JournalBenchmark.run()
        default:
            print("usage: holdfast-journal-process simulate [HISTORIES [SEED]] | kill [KILLS [SEED]] | bench")
            exit(2)
        }
    }

    private static func kill(_ numbers: [UInt64]) async throws {
        let (kills, seed) = (Int(numbers.first ?? 2_000), numbers.dropFirst().first ?? 1)
        let folder = FileManager.default.temporaryDirectory.appending(path: "j-\(UInt32.random(in: 0 ... .max))").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let start = ContinuousClock.now
        var rounds = KillRounds(program: CommandLine.arguments[0], folder: folder, seed: seed)
        let result = try await rounds.run(kills: kills)
        print("\(result.kills) kills, \(result.acknowledged) acknowledged records,", terminator: " ")
        print("\(result.cuts) incomplete transactions in \(ContinuousClock.now - start)")
        for failure in result.failures { print(failure) }
        if !result.failures.isEmpty { exit(1) }
    }

    private static func simulate(_ numbers: [UInt64]) {
        let (histories, first) = (numbers.first ?? 1_000, numbers.dropFirst().first ?? 1)
        var result = JournalSimulation.Result()
        let start = ContinuousClock.now
        for seed in first..<first + histories {
            let simulation = JournalSimulation(seed: seed)
            simulation.isVerbose = histories == 1
            result += simulation.run(steps: 25)
            guard result.failures.count < 3 else { break }
        }
        print("\(histories) histories, \(result.transactions) transactions, \(result.compactions) compactions,", terminator: " ")
        print("\(result.crashes) crashes in \(ContinuousClock.now - start)")
        for failure in result.failures { print(failure) }
        if !result.failures.isEmpty { exit(1) }
    }
}
