public import Foundation

/// The repository that the tests stand in.
public enum Repository {
    /// Its folder.
    public static let root = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// The files with an ending under some folders, in the order of their paths.
    public static func files(_ ending: String, under folders: [String]) -> [URL] {
        folders.flatMap { folder in
            let paths = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
            return (paths?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == ending }
        }.sorted { $0.path < $1.path }
    }

    /// A file's path from the root.
    public static func name(of file: URL) -> String { String(file.path.dropFirst(root.path.count + 1)) }
}
