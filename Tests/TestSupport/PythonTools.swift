#if os(Linux) || os(macOS)
    public import Foundation

    /// A Python environment that a script of this repository has not installed.
    private struct MissingPython: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the Python interpreter of an environment in the user's cache.
    /// - Parameters:
    ///   - name: The name of the environment, such as `mail-tools`.
    ///   - script: The command that installs it.
    public func python(of name: String, from script: String) throws -> URL {
        let environment = ProcessInfo.processInfo.environment
        let cache =
            environment["XDG_CACHE_HOME"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
            ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
        let python = cache.appending(path: "holdfast/\(name)/bin/python3")
        guard FileManager.default.isExecutableFile(atPath: python.path) else {
            throw MissingPython(description: "\(python.path) is missing: run \(script)")
        }
        return python
    }
#endif
