import Foundation
import HoldfastTesting
import TestSupport
import Testing

/// A short round of every target of `scripts/fuzz`: the seeds, and random changes of them. `HOLDFAST_ROUNDS` sets the number of
/// changes.
@Suite(.timeLimit(.minutes(10))) struct FuzzTests {
    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 600

    @Test("No input breaks a reader of untrusted bytes or violates a property", arguments: fuzzTargets.keys.sorted())
    func short(name: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-fuzz-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let seeds = try await onThread { try Self.seeds(of: name, in: folder.appending(path: "seeds")) }
        let finding = try await onThread { () -> String? in
            guard let target = try fuzzTargets[name]?.init(folder: folder) else { return "there is no target \(name)" }
            var generator = SplitMix64(seed: 2_026)
            for round in 0..<(seeds.count + Self.rounds) {
                var input = seeds[round % seeds.count]
                if round >= seeds.count {
                    let other = seeds.randomElement(using: &generator) ?? []
                    input.mutate(using: &generator) { generator in
                        let start = Int.random(in: 0...other.count, using: &generator)
                        return Array(other[start...].prefix(Int.random(in: 1...64, using: &generator)))
                    }
                }
                do {
                    try target.check(input)
                } catch let finding as Finding {
                    return "\(finding), with \(Data(input).base64EncodedString()) in Base64"
                }
            }
            return nil
        }
        #expect(finding == nil)
    }

    @Test("The script lists every target")
    func script() throws {
        let script = try String(contentsOf: Self.root.appending(path: "scripts/fuzz"), encoding: .utf8)
        #expect(script.contains("targets=(\(fuzzTargets.keys.sorted().joined(separator: " ")))"))
    }

    private static let root = Repository.root

    private static func seeds(of target: String, in folder: URL) throws -> [[UInt8]] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", root.appending(path: "Fuzzing/seeds.py").path, target, root.path, folder.path]
        try process.start()
        process.waitForEnd()
        try #require(process.terminationStatus == 0)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.sorted { $0.lastPathComponent < $1.lastPathComponent }.map { Array(try Data(contentsOf: $0)) }
    }
}
