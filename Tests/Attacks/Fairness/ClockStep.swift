import AccountContract
import Foundation
import TestSupport

/// The wall clock is set forward and back, without effect on the delay of emails and the life of used refresh tokens.
struct ClockStep: Attack {
    static let name = "clock-step"
    static let abstract = "Set the wall clock an hour forward and back, also across a kill."
    private let library = FileManager.default.temporaryDirectory.appending(path: "holdfast-clock-\(UUID().uuidString).so")

    init(size: AttackSize) {}

    /// At the first start the library does not exist, and the loader ignores it.
    var settings: [String: String] { ["LD_PRELOAD": library.path, "CLOCK_STEP_FILE": stepFile.path] }

    private var stepFile: URL { library.appendingPathExtension("step") }

    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        defer { for file in [library, stepFile] { try? FileManager.default.removeItem(at: file) } }
        var report = AttackReport()
        try await buildLibrary()
        try await server.restart()
        let people = try await server.people(6)
        func token(_ number: Int) async throws -> String {
            try Tokens(try await server.signIn(people[number], from: ClientAddresses.network24(number))).refreshToken
        }
        func use(_ token: String) async throws -> Int {
            let body = #"{"refresh_token":"\#(token)"}"#
            return try await server.call("POST", AccountPath.refresh, body: body, from: ClientAddresses.network24(0)).status
        }
        let tokens = (try await token(1), try await token(2))
        _ = try await (use(tokens.0), use(tokens.1))
        let used = ContinuousClock.now
        progress("an hour forward")
        var repeated = 0
        // On a machine that pauses, the second use can come after the window of ten seconds. In that case, another token is tried.
        for _ in 0..<5 {
            try set(0)
            let fresh = try await token(0)
            let begin = ContinuousClock.now
            _ = try await use(fresh)
            try set(3_600)
            repeated = try await use(fresh)
            if repeated == 200 || ContinuousClock.now - begin < .seconds(10) { break }
        }
        report.requireStatus(200, repeated, "a repeated refresh within its window after a step forward")
        // This email is requested while the clock is ahead and the mailbox is missing; it waits some seconds.
        let away = server.mailbox.appendingPathExtension("away")
        try FileManager.default.moveItem(at: server.mailbox, to: away)
        _ = try await server.requestReset(people[4], from: ClientAddresses.network24(4))
        let failure = try await server.wait { try await $0.queue().contains(#""attempts":1"#) }
        report.require("an email without a mailbox fails", within: failure)
        progress("two hours back")
        try set(-3_600)
        try FileManager.default.moveItem(at: away, to: server.mailbox)
        let wait = try await server.wait { try $0.recipients()[people[4]] == 1 }
        report.require("an email that failed before a step back is sent", within: wait)
        try await Task.sleep(until: used + .seconds(11))
        report.requireStatus(401, try await use(tokens.0), "a used refresh token after its window")
        progress("a kill, and an hour forward again")
        await server.stop(SIGKILL)
        try set(0)
        try await server.start()
        report.requireStatus(401, try await use(tokens.1), "a used refresh token after its window and a kill")
        _ = try await server.requestReset(people[5], from: ClientAddresses.network24(5))
        try set(-3_600)
        report.require(
            "an email that was requested before a step back is sent",
            within: try await server.wait { try $0.recipients()[people[5]] == 1 }
        )
        return report
    }

    private struct Tokens: Decodable {
        let refreshToken: String

        private enum CodingKeys: String, CodingKey { case refreshToken = "refresh_token" }

        init(_ response: AttackedServer.Response) throws {
            self = try JSONDecoder().decode(Tokens.self, from: Data(response.body))
        }
    }

    /// Sets the wall clock of the server's processes, in seconds from the right time.
    private func set(_ seconds: Int) throws { try Data("\(seconds)".utf8).write(to: stepFile, options: .atomic) }

    /// Builds a library that replaces the wall clock.
    private func buildLibrary() async throws {
        let source = library.appendingPathExtension("c")
        defer { try? FileManager.default.removeItem(at: source) }
        try Data(Self.source.utf8).write(to: source)
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-o", library.path, source.path]
        let result = try await compiler.result()
        guard result.status == 0 else {
            throw AttackedServer.Failure(description: "clang could not build the clock: \(result.errors)")
        }
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        static long step(void) {
            char text[32] = {0};
            const char *path = getenv("CLOCK_STEP_FILE");
            int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
            if (file < 0) return 0;
            long count = read(file, text, sizeof text - 1);
            close(file);
            return count > 0 ? atol(text) : 0;
        }

        int clock_gettime(clockid_t clock, struct timespec *time) {
            int result = syscall(SYS_clock_gettime, clock, time);
            if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += step();
            return result;
        }

        int gettimeofday(struct timeval *time, void *zone) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            time->tv_sec = now.tv_sec;
            time->tv_usec = now.tv_nsec / 1000;
            return 0;
        }
        """
}

extension AttackReport {
    fileprivate mutating func requireStatus(_ expected: Int, _ status: Int, _ text: String) {
        require("\(text) is \(expected)", counted: "\(status)", status == expected)
    }
}
