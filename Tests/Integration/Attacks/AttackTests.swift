import Attacks
import Testing

/// Runs each attack at a small size and checks its requirements. `scripts/attack` runs the full size.
///
/// The cases of each test run one after another. The runner begins the next case after all tests that already wait, so most attacks run
/// when the other tests have ended. Two attacks at a time leave the processors to the passwords of one of them.
@Suite(.timeLimit(.minutes(10))) struct AttackTests {
    private static let names = Attacks.all.map { $0.name }

    @Test(
        "Serves legitimate users while an attack uses the processors for passwords",
        .serialized,
        arguments: names.filter { Attacks.hashing.contains($0) }
    )
    func hashing(name: String) async throws { try await attack(name) }

    @Test(
        "Serves legitimate users during each other attack",
        .serialized,
        arguments: names.filter { !Attacks.hashing.contains($0) }
    )
    func others(name: String) async throws { try await attack(name) }

    private func attack(_ name: String) async throws {
        let type = try #require(Attacks.all.first { $0.name == name })
        let binary = try Binary.path(of: "holdfast")
        let report = try await Attacks.run(type.init(size: .small), settings: TestStores.smallLimits, binary: binary)
        #expect(!report.requirements.isEmpty)
        for requirement in report.requirements {
            #expect(requirement.isMet, "\(requirement.text): \(requirement.counted)")
        }
    }
}
