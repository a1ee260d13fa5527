import AccountContract
import ErrorContract
public import Foundation
import HTTPTypes
package import RateLimiting
public import ResilientHTTP
import Synchronization
import Timekeeping

/// Stores mutations on disk and sends them later, once and in order: for apps that work without a connection.
///
/// A request that is stored survives the end of the process. It is sent through the whole client, with one idempotency key over all of its
/// attempts, and only with a token of the account that made it. Requests of one lane are sent in order; lanes don't wait for each other.
///
/// ```swift
/// let queue = try await OfflineQueue.open(folder, client: api)
/// Task { await queue.run() }
///
/// let result: QueueResult<Order> = try await queue.send(.post, "/orders", draft, options: .queued(lane: "orders"))
/// switch result {
/// case .response(let order): show(order)
/// case .queued(let id): showAsPending(draft, id)
/// }
/// ```
///
/// The server must support idempotency keys: otherwise a request whose response was lost may be performed twice.
public final class OfflineQueue: Sendable {
    /// How a lane goes on after a request of it became a dead letter.
    public enum LanePolicy: Hashable, Sendable {
        /// The next request is sent at once.
        case continues
        /// The lane waits until the app has removed the dead letter or put it back: for requests that depend on each other.
        case stopsOnFailure
    }

    /// How a queue stores and sends.
    public struct Options: Sendable {
        /// How much is stored for one account.
        public var limits = QueueLimits()
        /// The lanes that differ from ``LanePolicy/continues``.
        public var lanePolicies: [String: LanePolicy] = [:]
        /// How many requests are sent at the same time, each of another lane.
        public var concurrency = 8
        /// The pause of a lane after a failed call.
        public var backoff = Backoff(base: .seconds(1), cap: .seconds(300))
        /// How often ``OfflineQueue/run()`` tries all lanes even if nothing happened, in case an event was lost.
        public var watchdog: Duration = .seconds(60)
        /// How long a process is the sender without renewing its role. Another process takes over after this time.
        public var lease: Duration = .seconds(5)
        /// Whether the requests of an account are removed when the app signs it out. By default they wait until it signs in again.
        public var discardsOnSignOut = false
        /// Encrypts the contents of requests; `nil` to store them as they are.
        public var cipher: (any QueueCipher)?
        /// An id of the device, such as a value in the Keychain that is never copied to another device. If a backup restores the queue on
        /// another device, the queue sends nothing before ``OfflineQueue/adopt()``. With `nil`, a copy is recognized by the identity of its
        /// files.
        public var deviceID: String?
        /// The clocks that outlive a process.
        package var time: @Sendable () -> SnapshotTime = { .now() }
        /// The files of the system, or of a test.
        package var files: any JournalFileSystem = SystemFiles()
        package var journal = JournalOptions()

        /// Creates the default options.
        public init() {}
    }

    /// The client that requests are sent with.
    public let client: APIClient
    /// How the queue stores and sends.
    public let options: Options
    let journal: Journal<Ledger>
    let hub: ChangeHub
    let dispatcher: Mutex<Dispatcher>
    /// Identifies this opening of the queue in the role of the sender.
    let holder: UInt64
    let server: String
    let flight = SingleFlight<Void>()
    /// Counts the changes of the session.
    let sessionChanges = Atomic<UInt64>(0)
    /// The owners whose requests are to be discarded because the app signed them out.
    let signedOut = Mutex<Set<QueueOwner>>([])
    /// The pauses that subscribers know of.
    let announced = Mutex<[QueueOwner: QueuePause]>([:])

    private init(client: APIClient, server: String, options: Options, journal: Journal<Ledger>, hub: ChangeHub) {
        (self.client, self.server, self.options, self.journal, self.hub) = (client, server, options, journal, hub)
        holder = .random(in: 1 ... .max)
        dispatcher = Mutex(
            Dispatcher(
                width: options.concurrency,
                backoff: options.backoff,
                identity: .init(server: server, account: nil)
            )
        )
    }

    /// Opens the queue in a folder, which is created if there is none.
    /// - Parameters:
    ///   - folder: A folder that contains nothing else, such as one in Application Support or in the container of an app group. Several
    ///     processes may open it.
    ///   - client: The client that requests are sent with, with the session whose token they carry.
    ///   - options: How the queue stores and sends.
    /// - Throws: ``QueueError/locked`` before the device was unlocked for the first time: try again later.
    public static func open(
        _ folder: URL,
        client: APIClient,
        options: Options = Options()
    ) async throws(QueueError) -> OfflineQueue {
        guard let server = client.serverAddress else { throw .invalidRequest(APIError(.invalidRequest)) }
        var settings = options.journal
        settings.deviceID = options.deviceID
        let hub = ChangeHub()
        let queue: OfflineQueue
        do {
            let journal = try await Journal.open(
                folder.path(percentEncoded: false),
                state: Ledger { hub.note($0) },
                files: options.files,
                options: settings
            )
            queue = OfflineQueue(client: client, server: server, options: options, journal: journal, hub: hub)
        } catch {
            throw QueueError(error)
        }
        client.session?.onChange(of: queue) { await $0.noteSession($1) }
        client.environment.connectivity?.onChange(of: queue) { queue, isOnline in if isOnline { queue.wake() } }
        await queue.identify()
        return queue
    }

    /// Whether the queue was copied from another device or place, such as by the restore of a backup. Its requests may have been delivered
    /// meanwhile, so that none is sent before the app has called ``adopt()`` or removed them.
    public var isRestored: Bool { journal.report.isRestored }

    /// Sends the requests of a queue that was copied from another device or place.
    public func adopt() async throws(QueueError) {
        do { try await journal.adopt() } catch { throw QueueError(error) }
        hub.wake()
    }

    /// The number of damaged places in the files whose requests were lost. The damaged bytes are kept in separate files.
    public var damagedPlaces: Int { journal.report.quarantined.count }

    /// The events of the queue from now on, for one reader.
    public var events: QueueEvents { QueueEvents(subscription: hub.subscribe()) }

    /// How much the queue contains, without what other processes stored since this one last looked.
    public var counts: QueueCounts {
        journal.withState { ledger in
            QueueCounts(
                pending: ledger.pendingCount,
                deadLetters: ledger.buried.count,
                bytes: ledger.owners.reduce(0) { $0 + $1.bytes },
                delivered: ledger.delivered
            )
        }
    }
}

extension OfflineQueue {
    var now: QueueTime { QueueTime(options.time()) }

    /// Appends the entries that a closure decides on, with what other processes have appended taken into account.
    @discardableResult
    func change<Result>(
        isDurable: Bool = false,
        _ body: (Ledger, inout JournalTransaction) throws(QueueError) -> Result
    ) async throws(QueueError) -> Result {
        do {
            return try await journal.transact(durability: isDurable ? .powerLoss : .processKill, body)
        } catch {
            throw QueueError(error)
        }
    }

    func seal(_ bytes: [UInt8], of id: QueuedRequestID, _ owner: QueueOwner) throws(QueueError) -> SealedContent {
        guard let cipher = options.cipher else { return SealedContent(bytes: bytes) }
        do {
            return SealedContent(isEncrypted: true, bytes: try cipher.seal(bytes, binding: binding(id, owner)))
        } catch {
            throw .locked
        }
    }

    func open(_ sealed: SealedContent, of id: QueuedRequestID, _ owner: QueueOwner) throws(QueueError) -> [UInt8] {
        guard sealed.isEncrypted else { return sealed.bytes }
        guard let cipher = options.cipher else { throw .locked }
        do { return try cipher.open(sealed.bytes, binding: binding(id, owner)) } catch { throw .locked }
    }

    private func binding(_ id: QueuedRequestID, _ owner: QueueOwner) -> [UInt8] {
        var writer = QueueWriter()
        writer.write(id.rawValue)
        writer.write(owner.server)
        writer.write(owner.account)
        return writer.bytes
    }

    /// Reads the content of a request from its frame.
    func content(of id: QueuedRequestID, frame: UInt64, _ owner: QueueOwner) throws(QueueError) -> RequestContent {
        do {
            let sealed = try SealedContent(payload: journal.payload(of: frame))
            return try RequestContent(open(sealed, of: id, owner))
        } catch is QueueReader.Malformed {
            throw .unknownRequest
        } catch {
            throw QueueError(error)
        }
    }
}

extension QueueError {
    init(_ error: any Error) {
        switch error {
        case let error as QueueError: self = error
        case JournalError.locked: self = .locked
        case JournalError.missing: self = .unknownRequest
        default: self = .storage(error)
        }
    }
}
