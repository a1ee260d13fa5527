import Foundation
import HoldfastTesting
import Testing
import Timekeeping

@testable import ResilientHTTP

@Suite(.timeLimit(.minutes(10))) struct FileCredentialStoreTests {
    private let folder: URL
    private var file: URL { folder.appending(path: "session.json") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-credentials-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test("Credentials survive a new store, are private, and can be removed")
    func roundTrip() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = FileCredentialStore(file: file)
        #expect(try await store.load() == nil)
        try await store.save(nil)
        let credentials = Credentials.number(1, expiresAt: Date(timeIntervalSince1970: 1_762_252_200))
        try await store.save(.number(7))
        try await store.save(credentials)
        #expect(try await FileCredentialStore(file: file).load() == credentials)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try await store.save(nil)
        #expect(try await store.load() == nil)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["session.json.write-lock"],
            "only the lock is left behind"
        )
    }

    @Test("A file without a valid session counts as absent", arguments: ["", "{}", "{\"accessToken\":1}", "\u{0}"])
    func garbage(text: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(text.utf8).write(to: file)
        #expect(try await FileCredentialStore(file: file).load() == nil)
    }

    @Test("Reports a missing folder")
    func missingFolder() async throws {
        try FileManager.default.removeItem(at: folder)
        await #expect(throws: POSIXError.self) { try await FileCredentialStore(file: file).save(.number(1)) }
    }

    @Test("Exclusive access to the file is granted to one caller at a time")
    func exclusive() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (entries, exits) = (Counter(), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await FileCredentialStore(file: file, lockTimeout: .seconds(600)).exclusively {
                        // With exclusive access no other caller can run between the two.
                        let number = entries.increment()
                        await Task.yield()
                        #expect(exits.increment() == number)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(exits.value == 20)
    }

    @Test("A caller that waits too long for another process gets an error")
    func timeout() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let clock = ManualClock()
        let store = FileCredentialStore(file: file, clock: MonotonicClock(clock), lockTimeout: .seconds(1))
        try await FileCredentialStore(file: file).exclusively { [store] in
            let waiting = Task { try await store.exclusively {} }
            for _ in 0..<50 {
                await clock.waitForSleepers()
                clock.advance(by: .milliseconds(20))
            }
            await #expect(throws: POSIXError.self) { try await waiting.value }
        }
    }

    @Test("Two sessions on one file refresh once, like two processes")
    func shared() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await FileCredentialStore(file: file).save(.number(1))
        let refreshes = Counter()
        let refresh: Session.Refresh = { token in
            #expect(token == "rt1")
            refreshes.increment()
            for _ in 0..<100 { await Task.yield() }
            return .number(2)
        }
        let sessions = (0..<2).map { _ in
            Session(
                store: FileCredentialStore(file: file, lockTimeout: .seconds(600)),
                timing: .patient,
                refresh: refresh
            )
        }
        for session in sessions { #expect(try await session.credentials == .number(1)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for session in sessions { group.addTask { try await session.refreshNow() } }
            try await group.waitForAll()
        }
        #expect(refreshes.value == 1)
        for session in sessions { #expect(try await session.credentials == .number(2)) }
    }
}

extension Session.Timing {
    /// Long timeouts for tests on a busy machine.
    static var patient: Session.Timing {
        var timing = Session.Timing()
        timing.attemptTimeout = .seconds(600)
        return timing
    }
}
