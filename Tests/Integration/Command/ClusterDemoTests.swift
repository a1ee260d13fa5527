import Foundation
import TestSupport
import Testing

@testable import HoldfastCommand

@Suite(.serialized, .timeLimit(.minutes(10))) struct ClusterDemoTests {
    @Test("The demo of a cluster survives each failure, prints the metrics and ends with 0")
    func story() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["demo", "--cluster"], environment: ["TMPDIR": folder.path], in: folder)
            #expect(run.status == 0, "\(run.output)\(run.errors)")
            for step in [
                "Register on server 1, sign in on server 2, refresh the session on server 3",
                "Kill server 2 under load (kill -9)", "Restart PostgreSQL under load",
                "Suspend PostgreSQL under load for 12 s (SIGSTOP)", "Sign in to each account",
            ] { #expect(run.output.contains(step), "\(run.output)") }
            #expect(run.output.contains("requests acknowledged, 0 lost"))
            #expect(run.output.contains("Every step ended as it should"))
            #expect(try leftovers(in: folder) == [])
        }
    }

    @Test("A signal ends the demo of a cluster and all of its processes", arguments: [SIGINT, SIGTERM])
    func interrupted(signal: Int32) async throws {
        try await withFolder { folder in
            let process = try Binary.make(["demo", "--cluster"], environment: ["TMPDIR": folder.path], in: folder)
            let output = Pipe.make()
            (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
            try process.start()
            defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
            for await line in output.fileHandleForReading.lines where line.contains("three servers") { break }
            #expect(try leftovers(in: folder) != [])
            kill(process.processIdentifier, signal)
            #expect(await process.ended() == 128 + signal)
            #expect(try leftovers(in: folder) == [])
        }
    }

    @Test("The output of a process excludes the output of earlier processes in its log")
    func output() async throws {
        // A separate process, because the product starts processes without the lock of `Process.start()`.
        await #expect(processExitsWith: .success) {
            try await withFolder { folder in
                let log = folder.appending(path: "log")
                for text in ["first", "second"] {
                    let process = try await DemoProcess.start(["/bin/echo", text], in: folder, log: log)
                    #expect(try await process.ended() == 0)
                    #expect(try process.output == "\(text)\n")
                }
                #expect(try String(contentsOf: log, encoding: .utf8) == "first\nsecond\n")
            }
        }
    }

    /// Returns the folders of the demo, and the processes that contain one in their arguments.
    private func leftovers(in folder: URL) throws -> [String] {
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("holdfast-demo") }
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int32($0) != nil }
            .compactMap { try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8) }
            .filter { $0.contains(folder.path + "/holdfast-demo") }
        return folders + processes
    }
}
