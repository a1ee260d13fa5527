import Foundation
import JournalTesting

@main enum JournalProcess {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "simulate": simulate(arguments.dropFirst().compactMap { UInt64($0) })
        default:
            print("usage: holdfast-journal-process simulate HISTORIES SEED")
            exit(2)
        }
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
