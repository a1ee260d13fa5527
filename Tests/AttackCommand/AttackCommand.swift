public import ArgumentParser
public import Attacks
import Foundation

/// Attacks a server that it starts, and reports the effect on legitimate users.
@main struct AttackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scripts/attack",
        abstract: "Attack a temporary account server, and measure the effect on legitimate users.",
        discussion: """
            The server is a release build with new data in a temporary folder. Other data is not changed.
            The server uses the first half of the processors and the attack the other half. A small attack shares all of them.
            The exit code is 1 if a requirement is not met. Attacks:
            \(Attacks.all.map { "  \($0.name): \($0.abstract)" }.joined(separator: "\n"))
            """
    )

    @Argument(help: "The attacks to run; all if none is named.")
    var names: [String] = []

    @Option(help: "The size: small, full or tenfold.")
    var size = AttackSize.full

    @Option(help: "The path of the holdfast binary.")
    var binary: String

    func validate() throws {
        for name in names where !Attacks.all.contains(where: { $0.name == name }) {
            throw ValidationError("there is no attack \(name); there are \(Attacks.all.map { $0.name }.joined(separator: ", "))")
        }
    }

    func run() async throws {
        // Must be first, because threads that start later inherit the share.
        if size != .small { ProcessorShare.attack.use() }
        var isMet = true
        for type in Attacks.all where names.isEmpty || names.contains(type.name) {
            print("\(type.name): \(type.abstract)")
            let begin = ContinuousClock.now
            let report = try await Attacks.run(type.init(size: size), binary: binary, hasOwnProcessors: size != .small) { line in
                FileHandle.standardError.write(Data("  … \(line)\n".utf8))
            }
            for requirement in report.requirements {
                print("  \(requirement.isMet ? "met    " : "NOT MET") \(requirement.text) (\(requirement.counted))")
            }
            for fact in report.facts { print("  \(fact.name): \(fact.value)") }
            print("  took \(Int((ContinuousClock.now - begin) / .seconds(1))) s")
            isMet = isMet && report.isMet
        }
        if !isMet { throw ExitCode(1) }
    }
}

extension AttackSize: ExpressibleByArgument {}
