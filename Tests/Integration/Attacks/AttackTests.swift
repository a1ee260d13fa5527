import Attacks
import Testing

/// Runs each attack at a small size and checks its requirements. `scripts/attack` runs the full size.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AttackTests {
    @Test("Serves legitimate users during each attack", arguments: Attacks.all.map { $0.name })
    func attack(name: String) async throws {
        let type = try #require(Attacks.all.first { $0.name == name })
        let report = try await Attacks.run(type.init(size: .small), binary: try Binary.path(of: "holdfast"))
        #expect(!report.requirements.isEmpty)
        for requirement in report.requirements {
            #expect(requirement.isMet, "\(requirement.text): \(requirement.counted)")
        }
    }
}
