#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @Suite struct ProcessResultTests {
        /// Prints what a process has as its input, output and errors.
        private let script = "for i in 0 1 2; do readlink /proc/self/fd/$i; done"

        @Test("Returns the status, the output and the errors") func result() async throws {
            let result = try await shell("cat; echo three >&2; exit 4").result(input: Data("one\ntwo".utf8))
            #expect(result.status == 4)
            #expect(result.output == "one\ntwo")
            #expect(result.errors == "three\n")
        }

        @Test("Reads more errors than a pipe holds before the output ends") func manyErrors() async throws {
            let result = try await shell("head -c 200000 /dev/zero >&2; echo end").result()
            #expect(result.output == "end\n")
            #expect(result.errors.utf8.count == 200_000)
        }

        @Test("Keeps no pipe or file of a process that has ended") func closes() async throws {
            let process = shell(script)
            let files = try await process.result(input: Data("x".utf8)).output.split(separator: "\n")
            #expect(files.count == 3)
            withExtendedLifetime(process) {
                for file in files { #expect(!openFiles().contains { $0.hasPrefix(file) }, "\(file)") }
            }
        }

        @Test("Keeps no pipe whose first line was read") func closesLines() async throws {
            let (process, output) = (shell(script), Pipe.make())
            process.standardOutput = output
            process.standardInput = FileHandle.nullDevice
            var files: [String] = []
            try process.start()
            for await line in output.fileHandleForReading.lines { files.append(line) }
            #expect(files.count == 3)
            withExtendedLifetime(process) { #expect(!openFiles().contains(files[1])) }
        }

        private func shell(_ script: String) -> Process {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", script]
            return process
        }

        /// The files and pipes that this process has open.
        private func openFiles() -> [String] {
            let folder = "/proc/self/fd"
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
        }
    }
#endif
