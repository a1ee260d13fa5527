#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The error that this module throws if a file can't be read or written. It contains no path, so it is safe to log.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's error number, such as `ENOSPC`; 0 if the file is too large.
    package let code: Int32

    /// The system's text for the error.
    package var description: String { code == 0 ? "the file is too large" : String(cString: strerror(code)) }

    /// Creates a failure from a system's error number.
    package init(code: Int32) { self.code = code }

    /// Whether the file or folder doesn't exist.
    package var isMissing: Bool { code == ENOENT }

    /// Whether a signal interrupted the call. The caller can repeat the call.
    package var isInterruption: Bool { code == EINTR }

    /// Whether the disk or the quota is full.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the file is protected until the user unlocks the device.
    package var isLocked: Bool { code == EPERM }

    /// A failure of the medium.
    package static let damaged = FileFailure(code: EIO)
    /// The failure of a call for a file that doesn't exist.
    package static let missing = FileFailure(code: ENOENT)

    /// The failure of the last system call of this thread. Read it directly after the call.
    static var last: FileFailure { FileFailure(code: errno) }
}

/// Reads and writes small files as a whole. Only the owner of a file can read and write it (permissions 0600). Use this type for files such
/// as stored credentials.
///
/// The functions wait for the disk, so don't call them on the cooperative thread pool. You can call them from any thread. If several calls
/// can replace the same file at the same time, set `isShared`.
package enum PrivateFile {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - limit: The maximum size in bytes.
    /// - Returns: The bytes; `nil` if the file doesn't exist.
    /// - Throws: ``FileFailure``, with the code 0 if the file exceeds the limit.
    package static func read(_ path: String, upTo limit: Int) throws(FileFailure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .last
        }
        defer { close(file) }
        var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 16_384))
        while true {
            #if canImport(Darwin)
                let count = Darwin.read(file, &chunk, chunk.count)
            #elseif canImport(Glibc)
                let count = Glibc.read(file, &chunk, chunk.count)
            #else
                let count = Musl.read(file, &chunk, chunk.count)
            #endif
            if count == 0 { return bytes }
            if count < 0 {
                guard errno == EINTR else { throw .last }
                continue
            }
            guard bytes.count + count <= limit else { throw FileFailure(code: 0) }
            bytes += chunk.prefix(count)
        }
    }

    /// Replaces a file atomically, so that a reader finds either the old or the new bytes. The function writes the bytes to a temporary
    /// file in the same folder, and then renames this file (`rename(2)`).
    ///
    /// If the process crashes, either the old or the new file remains. The function doesn't call `fsync`, so after a power failure, the
    /// content depends on the file system.
    ///
    /// - Parameters:
    ///   - path: The path. Its folder must exist.
    ///   - bytes: The new content.
    ///   - isShared: Whether several tasks or processes can replace the file at the same time. If `true`, each call writes its own
    ///     temporary file, which remains if the process is killed. If `false`, all calls use the same name for the temporary file, so the
    ///     next call removes a temporary file that remained.
    /// - Throws: ``FileFailure``. In this case, the old file is unchanged, and the temporary file is removed.
    package static func replace(_ path: String, with bytes: [UInt8], isShared: Bool = false) throws(FileFailure) {
        let new = path + (isShared ? ".\(UInt64.random(in: .min ... .max))" : ".new")
        // A killed process can leave a temporary file with other permissions, so this call removes that file.
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        do throws(FileFailure) {
            do throws(FileFailure) {
                try write(bytes, to: file)
            } catch {
                close(file)
                throw error
            }
            guard close(file) == 0, rename(new, path) == 0 else { throw .last }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Removes a file if it exists.
    ///
    /// - Throws: ``FileFailure`` if it exists and can't be removed.
    package static func remove(_ path: String) throws(FileFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .last }
    }

    /// Returns the 128-bit FNV-1a hash of a text, for short file names that don't contain the text. The hash is the same in every process
    /// and on every platform. An attacker can find two texts with the same hash, so don't use the hash for secrets.
    ///
    /// - Complexity: O(length).
    package static func digest(_ text: String) -> UInt128 {
        let prime = (UInt128(1) << 88) + 0x13B
        let offset = UInt128(0x6C62_272E_07BB_0142) << 64 | 0x62B8_2175_6295_C58D
        return text.utf8.reduce(offset) { ($0 ^ UInt128($1)) &* prime }
    }

    /// Writes all bytes, and continues after an interruption by a signal.
    private static func write(_ bytes: [UInt8], to file: Int32) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                    Darwin.write(file, buffer.baseAddress, buffer.count)
                #elseif canImport(Glibc)
                    Glibc.write(file, buffer.baseAddress, buffer.count)
                #else
                    Musl.write(file, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0 {
                guard errno == EINTR else { throw .last }
                continue
            }
            rest = rest.dropFirst(count)
        }
    }
}
