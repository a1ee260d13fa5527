import Foundation

/// The processors that an attacked server has to itself, so that the attack does not take from it what attackers would bring along: the first half of
/// those of this process. The attack has the other half.
public enum ProcessorShare: Sendable {
    case server, attack

    /// Lets the calling thread, and the threads and processes that it starts, use this share alone. Does nothing on a machine with one processor, and where
    /// the system has no such function.
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

    /// Of 1,024 processors, as many as the C library's own type has.
    private static let maskSize = 128

    /// Those of this process when it started.
    private static let all: [Int] = {
        var mask = Mask(repeating: 0, count: maskSize)
        guard let get = function("sched_getaffinity"), get(0, mask.count, &mask) == 0 else { return [] }
        return (0..<8 * mask.count).filter { mask[$0 / 8] & 1 << ($0 % 8) != 0 }
    }()

    /// The C library declares these functions only to programs in C that ask for them.
    private static func function(_ name: String) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
    }
}
