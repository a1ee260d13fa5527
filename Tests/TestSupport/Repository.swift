public import Foundation

/// The repository that contains the running tests.
public enum Repository {
    /// The root folder of the repository.
    public static let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// Returns the files with an extension under some folders, sorted by path.
    public static func files(_ ending: String, under folders: [String]) -> [URL] {
        folders.flatMap { folder in
            let paths = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
            return (paths?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == ending }
        }.sorted { $0.path < $1.path }
    }

    /// Returns a file's path relative to the root.
    public static func name(of file: URL) -> String { String(file.path.dropFirst(root.path.count + 1)) }
}
