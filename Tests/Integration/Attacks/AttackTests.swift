import Attacks
import Testing

/// The small form of each attack: its requirements hold. Full size is for `scripts/attack`.
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
