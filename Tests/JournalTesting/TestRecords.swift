package import OfflineQueue

/// A state like that of a queue: records that are added, and marks that end them.
package struct TestRecords: JournalState, Equatable {
    /// The kinds of frames. A program that is older than a kind keeps its frames.
    package enum Kind {
        package static let record: UInt8 = 1
        package static let end: UInt8 = 2
        package static let unknown: UInt8 = 200
    }

    package struct Record: Hashable, Sendable {
        package var sequence: UInt64
        package var size: Int
        package var payload: [UInt8]
    }

    /// The records that were not ended, and frames of the unknown kind, in order.
    package private(set) var records: [Record] = []
    /// The number of restarts of the state.
    package private(set) var restarts = 0

    package init() {}

    package var payloads: [[UInt8]] { records.map(\.payload) }
    package var liveBytes: Int { records.reduce(0) { $0 + $1.size } }

    package mutating func restart() {
        records = []
        restarts += 1
    }

    package mutating func apply(_ frame: JournalFrame) {
        if frame.header.kind == Kind.end {
            let sequence = frame.payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            records.removeAll { $0.sequence == sequence }
        } else {
            records.append(Record(sequence: frame.header.sequence, size: frame.header.storedSize, payload: frame.payload))
        }
    }

    package func keeps(_ frame: JournalFrameHeader) -> Bool { records.contains { $0.sequence == frame.sequence } }

    /// The payload of a mark that ends a record.
    package static func end(of sequence: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: sequence >> (8 * UInt64($0))) }
    }
}
