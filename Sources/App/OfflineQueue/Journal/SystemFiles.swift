import Foundation
package import PrivateFiles

/// The files of the operating system. A folder that this type creates is excluded from backups on Apple platforms. On iOS, tvOS, watchOS
/// and visionOS, its files can't be read before the first unlock of the device.
package struct SystemFiles: JournalFileSystem {
    /// Creates access to the files of the system.
    package init() {}

    /// Creates a missing folder and its parents with access for the owner only, and syncs the names of the new folders.
    /// - Parameter path: The path of the folder.
    /// - Throws: The error of the system, such as for a missing permission.
    package func createFolder(_ path: String) throws(FileFailure) {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            // New files in the folder inherit the protection class.
            attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
        #endif
        try createFolder(path, attributes: attributes)
        #if canImport(Darwin)
            do {
                var url = URL(fileURLWithPath: path, isDirectory: true)
                var values = URLResourceValues()
                values.isExcludedFromBackup = true
                try url.setResourceValues(values)
            } catch {
                throw FileFailure(error)
            }
        #endif
    }

    /// Creates a folder and its parents, and syncs the names of the new folders.
    private func createFolder(_ path: String, attributes: [FileAttributeKey: Any]) throws(FileFailure) {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try createFolder(parent, attributes: [.posixPermissions: 0o700])
        do {
            // Another process may create the folder at the same time.
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: attributes)
        } catch {
            throw FileFailure(error)
        }
        try OpenFile.syncFolder(parent)
    }

    /// Returns the names in a folder, in any order.
    package func names(in folder: String) throws(FileFailure) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch { throw FileFailure(error) }
    }

    /// Opens a file for reading and writing.
    package func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile {
        try OpenFile(path, creating: creating)
    }

    /// Returns the size, the number of links and the identity of a file.
    package func status(of path: String) throws(FileFailure) -> FileStatus { try .of(path) }

    /// Renames a file atomically. If another file has the new name, that file loses the name.
    package func rename(_ path: String, to newPath: String) throws(FileFailure) { try OpenFile.rename(path, to: newPath) }

    /// Removes a name. Open files stay readable.
    package func remove(_ path: String) throws(FileFailure) { try PrivateFile.remove(path) }

    /// Syncs the names in a folder to the medium.
    package func syncFolder(_ path: String) throws(FileFailure) { try OpenFile.syncFolder(path) }
}

extension FileFailure {
    /// Creates the failure that caused a Foundation error.
    fileprivate init(_ error: any Error) {
        let error = error as NSError
        let cause = error.domain == NSPOSIXErrorDomain ? error : error.userInfo[NSUnderlyingErrorKey] as? NSError
        self.init(code: cause?.domain == NSPOSIXErrorDomain ? Int32(truncatingIfNeeded: cause?.code ?? 0) : Self.damaged.code)
    }
}
