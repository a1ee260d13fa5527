/// An attack on a running account server, and its effect on legitimate users.
///
/// The same program runs in two sizes: small in `make test`, where a test checks the requirements of its report, and full by
/// `scripts/attack NAME` against a release build.
public protocol Attack: Sendable {
    /// The name in the command.
    static var name: String { get }

    /// One sentence for the command's list.
    static var abstract: String { get }

    /// The settings of the attacked server, in addition to the common ones.
    var settings: [String: String] { get }

    /// The number of connections that its calls share.
    var lanes: Int { get }

    /// Creates an attack of a size.
    init(size: AttackSize)

    /// Attacks a server that has just started, and returns the report.
    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport
}

extension Attack {
    public var lanes: Int { 64 }
}

/// The size of an attack.
public enum AttackSize: String, CaseIterable, Sendable {
    /// Seconds long, for the tests.
    case small
    /// The size at which the attack showed the defect.
    case full
    /// Ten times the size that showed the defect.
    case tenfold

    /// Returns the value for this size.
    public func pick<Value>(small: Value, full: Value, tenfold: Value) -> Value {
        switch self {
        case .small: small
        case .full: full
        case .tenfold: tenfold
        }
    }

    /// Returns the value for this size; `full` also for the largest one.
    public func pick<Value>(small: Value, full: Value) -> Value { pick(small: small, full: full, tenfold: full) }
}

/// Receives a line about the progress of an attack.
public typealias AttackProgress = @Sendable (String) -> Void

/// All attacks, in the order in which the command lists them.
public enum Attacks {
    /// The types of all attacks.
    public static let all: [any Attack.Type] = [
        ResetGlobal.self, EmailBomb.self, ClockStep.self, LeaseKill.self, LoginAccountTable.self, LoginFailures.self,
        TimeoutJunk.self, IdleConnections.self, NeverReads.self, SlowHeads.self, Overload.self, BrownOut.self,
    ]

    /// The names of the attacks whose effect depends on the number of passwords that the server hashes.
    public static let hashing: Set<String> = [
        LoginAccountTable.name, LoginFailures.name, TimeoutJunk.name, Overload.name, BrownOut.name,
    ]

    /// Starts a server with an attack's settings, runs the attack and stops the server.
    /// - Parameters:
    ///   - settings: Further settings of the server. Those of the attack replace them.
    ///   - hasOwnProcessors: Whether the server runs only on its ``ProcessorShare``. The caller's threads already use the other one.
    public static func run(
        _ attack: any Attack,
        settings: [String: String] = [:],
        binary: String,
        hasOwnProcessors: Bool = false,
        progress: AttackProgress = { _ in }
    ) async throws -> AttackReport {
        try await AttackedServer.serving(
            binary: binary,
            settings: settings.merging(attack.settings) { $1 },
            lanes: attack.lanes,
            hasOwnProcessors: hasOwnProcessors
        ) {
            try await attack.run(on: $0, progress: progress)
        }
    }
}
