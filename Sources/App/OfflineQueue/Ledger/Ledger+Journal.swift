extension Ledger: JournalState {
    /// Applies the entry of a frame.
    mutating func apply(_ frame: JournalFrame) {
        apply(
            kind: frame.header.kind,
            payload: frame.payload,
            sequence: frame.header.sequence,
            storedSize: frame.header.storedSize
        )
    }

    /// Returns whether a compaction keeps a frame. It keeps the present content of a request, the frames that describe the state of a
    /// request, and frames of unknown kinds.
    func keeps(_ frame: JournalFrameHeader) -> Bool { keeps(kind: frame.kind, sequence: frame.sequence) }
}

extension JournalTransaction {
    /// Appends an entry.
    mutating func append(_ entry: QueueEntry) {
        let (kind, payload) = entry.frame
        append(kind: kind, payload: payload)
    }
}
