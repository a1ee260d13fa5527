import Foundation
import Synchronization

/// A thread for blocking calls. It runs them one after another. The number of pending calls is bounded.
///
/// The driver's thread and the threads of tasks must never block. But host names can be resolved, and statements can be canceled, only with
/// blocking functions. If a call hangs, it delays only the calls after it.
final class BlockingWork: Sendable {
    private let queue: DispatchQueue
    private let limit: Int
    private let count = Mutex(0)

    /// Creates the thread.
    /// - Parameters:
    ///   - name: The label of the queue, for debuggers.
    ///   - limit: The largest number of pending calls. The running call is included.
    init(_ name: String, limit: Int) {
        // A serial queue. Its thread is not one of the threads on which tasks run.
        queue = DispatchQueue(label: name)
        self.limit = limit
    }

    /// Enqueues work.
    /// - Returns: `false` if the queue is full. In this case, the work is not done.
    func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        let isAccepted = count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard isAccepted else { return false }
        queue.async {
            work()
            self.count.withLock { $0 -= 1 }
        }
        return true
    }
}

/// Resolves host names.
enum HostAddresses {
    /// Returns whether a name is already an IP address.
    static func isAddress(_ name: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, name, &four) == 1 || inet_pton(AF_INET6, name, &six) == 1
    }

    /// Calls the system's resolver. Blocks the thread.
    /// - Returns: The addresses as numbers, in the order of the resolver. The array is empty if the name has no address.
    static func resolve(_ name: String) -> [String] {
        var hints = addrinfo()
        #if canImport(Darwin)
            hints.ai_socktype = SOCK_STREAM
        #else
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [String] = []
        var next = first
        while let info = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(text.count)
            if getnameinfo(info.ai_addr, info.ai_addrlen, &text, length, nil, 0, NI_NUMERICHOST) == 0 {
                addresses.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            next = info.ai_next
        }
        return addresses
    }
}
