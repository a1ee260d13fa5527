import CLibPQ
import Foundation

/// One connection of libpq in pipeline mode and nonblocking mode. It belongs to one thread.
///
/// A segment (``PGSegment``) is a group of statements. In pipeline mode, the connection sends all statements of a segment before it reads
/// the first result. So a segment takes one round trip. Every segment ends with a synchronization point. After an error, the server skips
/// all further statements up to this point.
///
/// First, call ``open()`` whenever the socket is ready, until the connection is open. Then call ``send(_:)`` for a segment. After that,
/// call ``flush()`` and ``receive()`` whenever the socket is ready, until there is an outcome.
final class PGConnection {
    /// The progress of opening.
    enum Opening: Equatable {
        case waitsForReading, waitsForWriting, opened
        case failed(reason: String)
    }

    /// The outcome of a segment.
    enum Outcome {
        /// The server has executed the segment to its end, or to an error.
        /// - Parameter isDoubtful: Whether the server warned that the standby may not have the commit.
        case finished(results: [PostgresResult], sqlState: String?, isDoubtful: Bool)
        /// The connection can't be used anymore.
        case lost(sqlState: String?)
    }

    /// A response of the server that has not arrived yet. The responses arrive in the order of the requests.
    private enum Expected {
        /// The result of preparing a statement. The name is recorded only if the preparation succeeds.
        case preparation(PreparedStatements.Key, name: String)
        /// The result of a statement, which the segment returns or ignores.
        case result, ignoredResult
        /// The end of the segment.
        case synchronization
    }

    private let handle: OpaquePointer
    /// The statements that this connection has prepared.
    private var prepared = PreparedStatements()
    private let preparesStatements: Bool

    /// The responses of the current segment.
    private var expected: [Expected] = []
    /// The index of the next response.
    private var nextExpected = 0
    /// The results of the current segment so far.
    private var results: [PostgresResult] = []
    /// The result of the current statement, until libpq reports its end.
    private var current: PostgresResult?
    /// The first error of the current segment.
    private var sqlState: String?
    /// Whether the current segment is a `COMMIT`. The response to a `COMMIT` shows whether the server has rolled back the transaction
    /// instead.
    private var isCommit = false
    private let notices = Notices()
    /// Whether there are unsent bytes.
    private(set) var wantsToWrite = false

    /// Notices that the server sent in addition to results.
    private final class Notices {
        /// Whether the server sent a warning (01000) or a shutdown (57P01) with the response to a commit. The server does so when it stops
        /// waiting for the synchronous standby.
        var isDoubtful = false
        /// The reason why the server ends the connection.
        var fatal: String?
    }

    /// Begins to open a connection. The thread then waits until the socket is writable, and calls ``open()``.
    /// - Parameters:
    ///   - parameters: The parameters of libpq. They contain an address instead of a name, so libpq resolves no names.
    ///   - preparesStatements: Whether statements are prepared on this connection.
    /// - Returns: The connection; `nil` if there is not enough memory.
    init?(_ parameters: [(name: String, value: String)], preparesStatements: Bool) {
        self.preparesStatements = preparesStatements
        var names = parameters.map { strdup($0.name) } + [nil]
        var values = parameters.map { strdup($0.value) } + [nil]
        defer {
            for text in names + values { free(text) }
        }
        let started = names.withUnsafeMutableBufferPointer { names in
            values.withUnsafeMutableBufferPointer { values in
                names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
                    values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
                        PQconnectStartParams(names.baseAddress, values.baseAddress, 0)
                    }
                }
            }
        }
        guard let started else { return nil }
        handle = started
        PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        PQsetNoticeReceiver(
            handle,
            { context, result in
                guard let context, let result else { return }
                let notices = Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
                let state = PGConnection.field(result, .sqlState)
                if state == "01000" || state == "57P01" { notices.isDoubtful = true }
                if PGConnection.isFatal(result) { notices.fatal = state }
            },
            Unmanaged.passUnretained(notices).toOpaque()
        )
    }

    deinit {
        PQfinish(handle)
    }

    /// The number of the socket. While the connection opens, libpq can replace the socket by another socket with the same number.
    var socket: Int32 { PQsocket(handle) }

    /// Whether the server waits for a new transaction. If so, the connection can be reused.
    var isIdle: Bool { expected.isEmpty && PQtransactionStatus(handle) == PQTRANS_IDLE && PQstatus(handle) == CONNECTION_OK }

    /// Continues to open the connection.
    func open() -> Opening {
        guard PQstatus(handle) != CONNECTION_BAD else { return .failed(reason: failureReason) }
        switch PQconnectPoll(handle) {
        case PGRES_POLLING_READING: return .waitsForReading
        case PGRES_POLLING_WRITING: return .waitsForWriting
        case PGRES_POLLING_OK:
            guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
                return .failed(reason: "libpq refused")
            }
            return .opened
        default: return .failed(reason: failureReason)
        }
    }

    /// The reason why the connection could not be opened. It contains no address.
    private var failureReason: String {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let last = message.split(whereSeparator: \.isWhitespace).last ?? ""
        if last.utf8.count == 5, last.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }) {
            return "refused with \(last)"
        }
        if message.contains("read-only") { return "the server is read-only" }
        if message.contains("refused") { return "connection refused" }
        if message.localizedCaseInsensitiveContains("certificate") || message.contains("SSL") { return "TLS failed" }
        return "connecting failed"
    }

    /// Discards the prepared statements. Call the method after a schema change has invalidated their plans. The statements stay on the
    /// server, but the connection doesn't use their names again.
    func removePrepared() {
        prepared.removeAll()
    }

    /// Returns an object with which another thread cancels the running statement; `nil` if the connection is closed.
    func cancellation() -> PGCancellation? {
        PGCancellation(handle)
    }

    /// Begins to send a segment. The caller must have received the outcome of the previous segment.
    /// - Returns: `false` if the connection is lost.
    func send(_ segment: PGSegment) -> Bool {
        (results, current, sqlState, nextExpected) = ([], nil, nil, 0)
        expected.removeAll(keepingCapacity: true)
        isCommit = segment.kind == .commit
        notices.isDoubtful = false
        if segment.confirmsEarlierCommits, segment.commits, writesMessages {
            guard send(Self.message, []) else { return false }
            expected[expected.count - 1] = .ignoredResult
        }
        for (statement, values) in segment.statements {
            guard send(statement, values) else { return false }
        }
        expected.append(.synchronization)
        return PQpipelineSync(handle) == 1 && flush()
    }

    /// A statement that only writes to the write-ahead log. Because of this write, its commit waits for the standby, like a commit with
    /// changes.
    private static let message: PostgresStatement = "SELECT pg_logical_emit_message(true, 'holdfast', '')"

    /// Whether the server supports ``message``. CockroachDB doesn't support this statement. It also doesn't need the statement, because
    /// CockroachDB never reports a commit that only one server has.
    private var writesMessages: Bool { PQparameterStatus(handle, "crdb_version") == nil }

    /// Adds a statement to the pipeline, prepared if possible. If the connection has not prepared the statement yet, the method adds its
    /// preparation first.
    private func send(_ statement: PostgresStatement, _ values: [PostgresValue]) -> Bool {
        let types = values.map(\.type)
        let arguments = PGArguments(values)
        guard preparesStatements, let (name, key) = prepared.name(of: statement, types) else {
            expected.append(.result)
            return arguments.withPointers { count, values, lengths, formats in
                PQsendQueryParams(handle, statement.text, count, types, values, lengths, formats, 1) == 1
            }
        }
        if let key {
            expected.append(.preparation(key, name: name))
            guard PQsendPrepare(handle, name, statement.text, Int32(types.count), types) == 1 else { return false }
        }
        expected.append(.result)
        return arguments.withPointers { count, values, lengths, formats in
            PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
        }
    }

    /// Sends as many bytes as the socket accepts.
    /// - Returns: `false` if the connection is lost.
    func flush() -> Bool {
        let left = PQflush(handle)
        wantsToWrite = left == 1
        return left >= 0
    }

    /// Reads the available results. If all results have arrived, the method ends the segment.
    /// - Returns: The outcome; `nil` if results are missing, or if the connection is idle and still open.
    func receive() -> Outcome? {
        let isOpen = PQconsumeInput(handle) == 1
        // `PQisBusy` also processes notices, such as the notice of a server that ends an idle connection.
        while PQisBusy(handle) == 0, nextExpected < expected.count {
            guard let result = PQgetResult(handle) else {
                if case .synchronization = expected[nextExpected] { break }
                if let current, case .result = expected[nextExpected] { results.append(current) }
                (current, nextExpected) = (nil, nextExpected + 1)
                continue
            }
            defer { PQclear(result) }
            if let outcome = take(result) { return outcome }
        }
        guard isOpen, PQstatus(handle) == CONNECTION_OK else { return .lost(sqlState: notices.fatal) }
        return nil
    }

    /// Processes the next result of the current segment.
    /// - Returns: The outcome of the segment, if it has ended.
    private func take(_ result: OpaquePointer) -> Outcome? {
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            expected.removeAll(keepingCapacity: true)
            nextExpected = 0
            return .finished(results: results, sqlState: sqlState, isDoubtful: notices.isDoubtful)
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            if case .preparation(let key, let name) = expected[nextExpected] {
                prepared.insert(key, name: name)
            } else {
                // A transaction with a failed statement ends with `ROLLBACK` and without an error.
                if isCommit, PQcmdStatus(result).map({ String(cString: $0) }) == "ROLLBACK" { sqlState = sqlState ?? "25P02" }
                current = PostgresResult(result)
            }
        case PGRES_PIPELINE_ABORTED: break
        default:
            let state = Self.field(result, .sqlState)
            // libpq reports a lost connection without an SQLSTATE.
            guard let state, !Self.isFatal(result) else { return .lost(sqlState: state ?? notices.fatal) }
            sqlState = sqlState ?? state
        }
        return nil
    }

    /// A field of an error. The code of a field is a macro that Swift does not import.
    private enum Field: UInt8 {
        case sqlState = 0x43  // PG_DIAG_SQLSTATE, 'C'
        case severity = 0x56  // PG_DIAG_SEVERITY_NONLOCALIZED, 'V'
    }

    private static func field(_ result: OpaquePointer, _ field: Field) -> String? {
        PQresultErrorField(result, Int32(field.rawValue)).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func isFatal(_ result: OpaquePointer) -> Bool {
        ["FATAL", "PANIC"].contains(field(result, .severity) ?? "")
    }
}

extension PostgresResult {
    /// Copies a result of libpq.
    fileprivate init(_ result: OpaquePointer) {
        let columns = PQnfields(result)
        let rows = (0..<PQntuples(result)).map { row in
            PostgresRow(
                columns: (0..<columns).map { column in
                    guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column) else { return nil }
                    return Array(UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(result, row, column))))
                }
            )
        }
        let count = PQcmdTuples(result).map { String(cString: $0) }.flatMap { Int($0) } ?? 0
        self.init(rows: rows, count: count)
    }
}
