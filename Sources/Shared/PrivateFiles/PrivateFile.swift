#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file could not be read or written.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system's number for the cause, such as `ENOSPC`; 0 if the file is too large.
    package let code: Int32

    /// The system's words for it.
    package var description: String { code == 0 ? "the file is too large" : String(cString: strerror(code)) }

    package init(code: Int32) { self.code = code }

    /// Whether there is no such file or folder.
    package var isMissing: Bool { code == ENOENT }

    /// Whether the call was interrupted by a signal and may be repeated.
    package var isInterruption: Bool { code == EINTR }

    /// Whether the disk or the quota is full.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the device must be unlocked first.
    package var isLocked: Bool { code == EPERM }

    /// A failure of the medium.
    package static let damaged = FileFailure(code: EIO)
    /// There is no such file.
    package static let missing = FileFailure(code: ENOENT)

    static var last: FileFailure { FileFailure(code: errno) }
}

/// Small files that only their owner may read. Calls wait for the disk: not for the cooperative pool.
package enum PrivateFile {
    /// The bytes of a file, or `nil` if there is none.
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

    /// Replaces a file as a whole: a reader finds the old bytes or the new ones.
    /// - Parameter isShared: Whether several tasks or processes may replace the file at the same time. Each then writes a draft of its own, which
    ///   stays if the process is killed; otherwise the next call removes it.
    package static func replace(_ path: String, with bytes: [UInt8], isShared: Bool = false) throws(FileFailure) {
        let new = path + (isShared ? ".\(UInt64.random(in: .min ... .max))" : ".new")
        // A leftover of a kill may have other rights.
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

    /// Removes a file if there is one.
    package static func remove(_ path: String) throws(FileFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .last }
    }

    /// The FNV-1a hash of a text in 128 bits: not for secrets, only so that any text makes a short file name that does not contain it.
    package static func digest(_ text: String) -> UInt128 {
        let prime = (UInt128(1) << 88) + 0x13B
        let offset = UInt128(0x6C62_272E_07BB_0142) << 64 | 0x62B8_2175_6295_C58D
        return text.utf8.reduce(offset) { ($0 ^ UInt128($1)) &* prime }
    }

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
