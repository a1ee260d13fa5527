import Synchronization

/// Injects random faults into single round trips of PostgreSQL's protocol.
///
/// With a conflict, client and server stay in step. A refused statement does not reach the server. In place of a refused COMMIT the server
/// gets ROLLBACK. In place of another refused statement of a transaction it gets nothing, since the client must send ROLLBACK itself. It is
/// a violation if the client sends another statement. The filter reads one round trip at a time, which is how the driver uses a connection.
package final class RoundTripFaults: Sendable {
    package enum Fault: Sendable {
        /// 40001 in place of the result, as a distributed PostgreSQL reports it.
        case conflict
        /// The connection ends before the response. In half of the cases the server has executed the statements.
        case loss
    }

    private struct State {
        var hasBegun = false
        var roundTrips = 0
        var faults = 0
        var violations: [String] = []
    }

    package let fault: Fault
    private let share: Double
    private let state = Mutex(State())

    /// - Parameters:
    ///   - fault: The fault.
    ///   - share: The fraction of the round trips that fail, from 0 to 1.
    package init(_ fault: Fault, share: Double) {
        (self.fault, self.share) = (fault, share)
    }

    /// Starts to inject faults. Before that, the tables are created in long transactions, of which too few would succeed.
    package func begin() { state.withLock { $0.hasBegun = true } }

    /// The number of round trips.
    package var roundTrips: Int { state.withLock { $0.roundTrips } }

    /// The number of failed round trips.
    package var count: Int { state.withLock { $0.faults } }

    /// The statements that clients sent in a transaction that had failed.
    package var violations: [String] { state.withLock { $0.violations } }

    /// The filter of one connection.
    package func filter() -> any ProxyFilter { RoundTripFilter(self) }

    /// Decides whether the next round trip fails.
    fileprivate func fails() -> Bool {
        state.withLock { state in
            guard state.hasBegun else { return false }
            state.roundTrips += 1
            guard Double.random(in: 0..<1) < share else { return false }
            state.faults += 1
            return true
        }
    }

    fileprivate func record(_ violation: String) { state.withLock { $0.violations.append(violation) } }
}

/// Reads both directions of one connection.
private final class RoundTripFilter: ProxyFilter {
    fileprivate struct State {
        var fromClient = MessageBuffer(hasStarted: false)
        var fromServer = MessageBuffer(hasStarted: true)
        /// The messages of an incomplete round trip.
        var segment: [UInt8] = []
        /// The statements of the round trip.
        var texts: [String] = []
        var prepared: [String: String] = [:]
        /// The state in the last `ReadyForQuery`: idle, in a transaction, failed; `nil` before the first.
        var status: UInt8?
        /// Whether the client must roll back.
        var isRefused = false
        /// Whether the filter discards the server's reply and sends the refusal to the client instead.
        var isReplacing = false
    }

    private let faults: RoundTripFaults
    private let state = Mutex(State())

    init(_ faults: RoundTripFaults) {
        self.faults = faults
    }

    func fromClient(_ bytes: ArraySlice<UInt8>) -> ProxyOutput {
        state.withLock { state in
            state.fromClient.append(bytes)
            var all = ProxyOutput()
            while let message = state.fromClient.next() {
                state.note(message)
                state.segment += message.bytes
                // Round trips end with Sync. A message without a type belongs to the start of the connection.
                guard message.type == UInt8(ascii: "S") else {
                    if message.type == nil || state.status == nil || message.type == UInt8(ascii: "X") {
                        all.toServer += state.takeSegment().bytes
                    }
                    continue
                }
                let output = decide(&state)
                all.toServer += output.toServer
                all.toClient += output.toClient
                all.isEnd = output.isEnd
                if all.isEnd { break }
            }
            return all
        }
    }

    /// Decides about a complete round trip.
    private func decide(_ state: inout State) -> ProxyOutput {
        let (bytes, texts) = state.takeSegment()
        let isRollback = texts.contains { $0.hasPrefix("ROLLBACK") }
        if state.isRefused {
            state.isRefused = false
            if !isRollback { faults.record(texts.joined(separator: "; ")) }
            return ProxyOutput(toServer: bytes)
        }
        guard !isRollback, state.status != UInt8(ascii: "E"), faults.fails() else { return ProxyOutput(toServer: bytes) }
        guard faults.fault == .conflict else { return ProxyOutput(toServer: Bool.random() ? bytes : [], isEnd: true) }
        let isOpen = state.status == UInt8(ascii: "T")
        if isOpen, texts.contains(where: { $0.hasPrefix("COMMIT") }) {
            state.isReplacing = true
            return ProxyOutput(toServer: Message.query("ROLLBACK"))
        }
        state.isRefused = isOpen
        return ProxyOutput(toClient: Message.refusal(status: isOpen ? UInt8(ascii: "E") : UInt8(ascii: "I")))
    }

    func fromServer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        state.withLock { state in
            // The reply to a request for TLS is a single byte.
            guard state.status != nil || bytes.count > 1 else { return Array(bytes) }
            state.fromServer.append(bytes)
            var output: [UInt8] = []
            while let message = state.fromServer.next() {
                let isReady = message.type == UInt8(ascii: "Z")
                if isReady { state.status = message.bytes.last }
                guard state.isReplacing else {
                    output += message.bytes
                    continue
                }
                if isReady {
                    state.isReplacing = false
                    output += Message.refusal(status: UInt8(ascii: "I"))
                }
            }
            return output
        }
    }
}

extension RoundTripFilter.State {
    /// Stores the statement that a message prepares or uses.
    mutating func note(_ message: Message) {
        let fields = message.bytes.dropFirst(5).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        switch message.type {
        case UInt8(ascii: "P") where fields.count > 1:
            prepared[fields[0]] = fields[1]
            texts.append(fields[1])
        case UInt8(ascii: "B") where fields.count > 1:
            if let text = prepared[fields[1]] { texts.append(text) }
        default: break
        }
    }

    mutating func takeSegment() -> (bytes: [UInt8], texts: [String]) {
        defer { (segment, texts) = ([], []) }
        return (segment, texts)
    }
}

/// A message of the protocol: a type, except for the first ones of a client, the length, and the content.
private struct Message {
    let type: UInt8?
    let bytes: [UInt8]

    static func make(_ type: Character, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 4).bigEndian
        return Array(String(type).utf8) + withUnsafeBytes(of: length) { Array($0) } + content
    }

    static func query(_ text: String) -> [UInt8] { make("Q", Array(text.utf8) + [0]) }

    /// Returns an error 40001 and the end of the round trip.
    static func refusal(status: UInt8) -> [UInt8] {
        let fields = ["SERROR", "VERROR", "C40001", "Mrestart transaction: refused by a test"]
        return make("E", fields.flatMap { Array($0.utf8) + [0] } + [0]) + make("Z", [status])
    }
}

/// Splits bytes into messages.
private struct MessageBuffer {
    /// Whether messages have types.
    var hasStarted: Bool
    private var bytes: [UInt8] = []

    init(hasStarted: Bool) {
        self.hasStarted = hasStarted
    }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// Removes and returns the next complete message.
    mutating func next() -> Message? {
        let head = hasStarted ? 1 : 0
        guard bytes.count >= head + 4 else { return nil }
        let length = head + bytes[head..<head + 4].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= length else { return nil }
        let message = Message(type: hasStarted ? bytes[0] : nil, bytes: Array(bytes[..<length]))
        bytes.removeFirst(length)
        // The protocol version 3.0. Requests for TLS precede it.
        if !hasStarted, message.bytes.dropFirst(4).prefix(2).elementsEqual([0, 3]) { hasStarted = true }
        return message
    }
}
