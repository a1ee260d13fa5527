import Foundation
import Synchronization

/// Messages to a thread that waits in `poll`.
///
/// A lock protects the messages, and a pipe wakes the thread. Only a message that arrives in an empty mailbox writes a byte to the pipe. So
/// a burst of messages needs only one system call. The number of messages is not bounded, but each waiting task has posted at most a few
/// messages.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// The end of the pipe that is readable while there are messages.
    let readEnd: Int32
    private let writeEnd: Int32

    /// Creates the mailbox and its pipe. Ends the process if no file descriptors are available.
    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "pipe failed with \(errno)")
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Adds a message and wakes the thread.
    /// - Returns: `false` if the thread accepts no more messages.
    func post(_ message: Message) -> Bool {
        let (isFirst, isClosed) = state.withLock { state in
            guard !state.isClosed else { return (false, true) }
            state.messages.append(message)
            return (state.messages.count == 1, false)
        }
        var byte: UInt8 = 0
        if isFirst { _ = write(writeEnd, &byte, 1) }
        return !isClosed
    }

    /// Removes and returns the messages in the order of their arrival. The method clears the pipe first. So a message that arrives during
    /// the call wakes the thread again.
    func takeAll() -> [Message] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &bytes, bytes.count) == bytes.count {}
        return state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Returns the last messages. After this call, ``post(_:)`` returns `false`.
    func end() -> [Message] {
        state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.messages
        }
    }
}
