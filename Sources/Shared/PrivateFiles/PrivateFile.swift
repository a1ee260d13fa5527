#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An error that is thrown if a file can't be read or written. It contains no path, so it can be logged.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's error number, such as `ENOSPC`; 0 if the file is too large.
    package let code: Int32

    /// The system's text for the error.
    package var description: String { code == 0 ? "the file is too large" : String(cString: strerror(code)) }

    /// Creates a failure from a system's error number.
    package init(code: Int32) { self.code = code }

    /// Whether the file or folder doesn't exist.
    package var isMissing: Bool { code == ENOENT }

    /// Whether a signal interrupted the call. The caller may repeat it.
    package var isInterruption: Bool { code == EINTR }

    /// Whether the disk or the quota is full.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the device must be unlocked first.
    package var isLocked: Bool { code == EPERM }

    /// A failure of the medium.
    package static let damaged = FileFailure(code: EIO)
    /// There is no such file.
    package static let missing = FileFailure(code: ENOENT)

    /// The failure of the last system call of this thread. Read it directly after the call.
    static var last: FileFailure { FileFailure(code: errno) }
}

/// Small files that only their owner can read and write (permissions 0600), such as stored credentials. They are read and written as a
/// whole.
///
/// The functions wait for the disk, so don't call them on the cooperative thread pool. All functions may be called from any thread. If two
/// calls may replace the same file at the same time, set `isShared`.
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

    /// Replaces a file atomically. A reader finds either the old or the new bytes. The function writes the bytes to a temporary file in the
    /// same folder, and then renames this file (`rename(2)`).
    ///
    /// The function doesn't call `fsync`. If the process crashes, the old or the new file remains. After a power failure, the content
    /// depends on the file system.
    ///
    /// - Parameters:
    ///   - path: The path. Its folder must exist.
    ///   - bytes: The new content.
    ///   - isShared: Whether several tasks or processes may replace the file at the same time. If so, each call writes a separate temporary
    ///     file. This file remains if the process is killed. If `isShared` is `false`, the next call removes such a file.
    /// - Throws: ``FileFailure``. If it is thrown, the old file is unchanged, and the temporary file is removed.
    package static func replace(_ path: String, with bytes: [UInt8], isShared: Bool = false) throws(FileFailure) {
        let new = path + (isShared ? ".\(UInt64.random(in: .min ... .max))" : ".new")
        // If a killed process left a temporary file, this file may have other permissions.
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
    /// and on every platform. An attacker can find two texts with the same hash, so don't use it for secrets.
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
