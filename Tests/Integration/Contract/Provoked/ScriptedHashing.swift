import AccountCore
import Dispatch
import Foundation
import Synchronization

/// Password hashing that costs nothing, and that fails or hangs for certain passwords.
final class ScriptedHashing: PasswordHashing {
    /// The error of a failing library. No part of its text may be visible outside.
    struct Trouble: Error, LocalizedError, CustomStringConvertible {
        static let secrets = ["hunter2", "INSERT INTO account", "/srv/holdfast", "Trouble"]

        let description = "INSERT INTO account VALUES ('hunter2') failed in /srv/holdfast/Hashing.swift"
        var errorDescription: String? { description }
    }

    static let failing = "a password that fails"
    static let hanging = "a password that hangs"

    private let gate = DispatchSemaphore(value: 0)
    private let waiting = Mutex(0)

    /// The number of hanging hashes.
    var hangs: Int { waiting.withLock { $0 } }

    /// Lets one hanging hash end.
    func release() { gate.signal() }

    func hash(_ password: String) throws -> String {
        if password == Self.failing { throw Trouble() }
        if password == Self.hanging {
            waiting.withLock { $0 += 1 }
            gate.wait()
            waiting.withLock { $0 -= 1 }
        }
        return "plain:" + password
    }

    func verify(_ password: String, against hash: String) -> Bool { hash == "plain:" + password }
    func needsRehash(_ hash: String) -> Bool { false }
}
