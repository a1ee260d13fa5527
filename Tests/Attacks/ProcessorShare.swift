import Foundation

/// One half of this process's processors. The attacked server uses the first half, and the attack uses the second half. Real attackers have
/// their own machines, so an attack in a test must not use the processors of the server.
public enum ProcessorShare: Sendable {
    case server, attack

    /// Restricts the calling thread, and the threads and processes that it starts, to this share. Does nothing on a machine with one
    /// processor, or on a system without such a function.
    public func use() {
        let all = Self.all
        guard all.count > 1, let set = Self.function("sched_setaffinity") else { return }
        var mask = Mask(repeating: 0, count: Self.maskSize)
        for number in self == .server ? all.prefix(all.count / 2) : all.suffix(all.count - all.count / 2) {
            mask[number / 8] |= 1 << (number % 8)
        }
        _ = set(0, mask.count, &mask)
    }

    private typealias Mask = [UInt8]
    private typealias Function = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32

    /// 1,024 bits, like the C library's own type.
    private static let maskSize = 128

    /// The processors of this process at its start.
    private static let all: [Int] = {
        var mask = Mask(repeating: 0, count: maskSize)
        guard let get = function("sched_getaffinity"), get(0, mask.count, &mask) == 0 else { return [] }
        return (0..<8 * mask.count).filter { mask[$0 / 8] & 1 << ($0 % 8) != 0 }
    }()

    /// The C library declares these functions only for C programs that define a feature macro.
    private static func function(_ name: String) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
    }
}
