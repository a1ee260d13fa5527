import AccountContract
import ErrorContract
public import Foundation
import HTTPTypes
package import RateLimiting
public import ResilientHTTP
import Synchronization
import Timekeeping

/// A queue that stores mutating requests on disk, and sends each of them later, once and in order. Use a queue in apps that must work
/// without a connection.
///
/// Use a queue for a change that the user must not lose and whose response can wait. For a read, or if the app needs the response now, use
/// the client itself.
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
/// **Durability.** A request is stored when ``enqueue(_:_:query:body:options:context:isDurable:)`` returns. From then on, the request
/// survives any end of the process. It also survives a loss of power: 50 ms later at the latest, or with `isDurable`, as soon as the method
/// returns. If a part of the file is damaged, only the requests in this part are lost. ``damagedPlaces`` reports the number of damaged
/// parts.
///
/// **Once.** All attempts of a request have the same idempotency key. The queue records each attempt on disk before the first byte is sent.
/// If the response is lost, the queue repeats the request with its key, as long as the server stores the key (``QueueLimits/keyLifetime``).
/// Afterwards, the request becomes a dead letter with the reason ``DeadLetter/Reason/unknownOutcome``. A dead letter is a request that is
/// no longer sent. The server must support idempotency keys. Otherwise, a request whose response was lost may be performed twice.
///
/// **Order.** Each request belongs to a lane, which has a name. Requests of one lane are sent one at a time, in the order in which they
/// were stored. Different lanes don't wait for each other. Up to ``Options/concurrency`` lanes send at the same time.
///
/// **Accounts.** A request belongs to a server and an account. The request is sent only to this server and only with a token of this
/// account. While another account is signed in, the request is paused.
///
/// **Processes.** Several processes, such as an app and its extensions, may open the same folder. All of them can store requests, but only
/// one process at a time, the sender, sends them. If the sender is killed, another process becomes the sender after ``Options/lease``.
///
/// **Cost.** Opening a queue reads and verifies the whole file. For each stored request, a small record is in memory, but not the body.
/// Storing a request appends to a file under a lock. Storing waits for a sync of the disk in two cases: if the request must be durable, or
/// if more than 4 MiB are not synced yet.
///
/// All methods may be called from any task at the same time.
public final class OfflineQueue: Sendable {
    /// The behavior of a lane after one of its requests became a dead letter.
    public enum LanePolicy: Hashable, Sendable {
        /// The next request is sent at once. This is the default.
        case continues
        /// The lane sends nothing until the app has handled the dead letter with ``OfflineQueue/remove(_:)`` or ``OfflineQueue/retry(_:)``.
        /// Use this policy for requests that depend on each other, such as "create" and "edit" of one object.
        case stopsOnFailure
    }

    /// The settings of a queue: limits, pace of sending, encryption, and the handling of sign-outs and restored backups.
    ///
    /// All processes that share a folder should use the same values. Set the values before you open the queue:
    ///
    /// ```swift
    /// var options = OfflineQueue.Options()
    /// options.lanePolicies = ["dependent": .stopsOnFailure]
    /// options.limits.lifetime = .seconds(24 * 3_600)
    /// ```
    public struct Options: Sendable {
        /// The limits of one account: number, bytes and age of its requests.
        public var limits = QueueLimits()
        /// The policies of lanes by their names. A lane without an entry has ``LanePolicy/continues``.
        public var lanePolicies: [String: LanePolicy] = [:]
        /// The maximum number of requests that are sent at the same time, each from another lane. The number must be positive. With 0, no
        /// request is sent.
        public var concurrency = 8
        /// The delay of a lane after a failed call. The delay is random and grows with each failure (exponential backoff with full jitter):
        /// at most 1 s after the first failure, and never more than 300 s. If the server requests a longer delay, the server's delay
        /// applies, but at most an hour unless the body of the response contains the same delay. After a success or
        /// ``OfflineQueue/wake()``, the delay starts again at its base.
        public var backoff = Backoff(base: .seconds(1), cap: .seconds(300))
        /// The maximum time for which ``OfflineQueue/run()`` sleeps. With this limit, the queue still sends its requests if a wake-up event
        /// was lost. If the next request of a lane can't be read from the disk or decrypted, this time is also the delay of the lane. A
        /// time of less than 100 ms counts as 100 ms.
        public var watchdog: Duration = .seconds(60)
        /// The time after which a process loses the role of the sender if it doesn't renew the role. While the process sends, it renews the
        /// role whenever a third of this time has passed. If the sender is killed, another process becomes the sender when this time has
        /// passed. A time of less than 100 ms counts as 100 ms.
        public var lease: Duration = .seconds(5)
        /// Whether the queue removes the requests of an account when the app signs the account out. By default, the queue pauses the
        /// requests until the account signs in again.
        ///
        /// This setting applies only to a sign-out by the app, including a sign-in of another account. If the server ended the session, or
        /// if the app stores credentials without a user, the requests stay. If the removal fails, such as in a canceled task, the next
        /// drain repeats it. Requests that the account has stored after another sign-in stay. The queue stores the sign-out only in memory.
        /// If the process is killed before the removal, the requests stay paused.
        public var discardsOnSignOut = false
        /// The cipher for the contents of requests; `nil` to store them without encryption. A request that was stored with a cipher can
        /// only be sent with a cipher.
        public var cipher: (any QueueCipher)?
        /// The identifier of the device, such as a value in the Keychain that is not restored on another device. If a backup restored the
        /// queue on another device, the queue sends nothing before ``OfflineQueue/adopt()``. With `nil`, the inode of the folder identifies
        /// the device, because a restored folder has another inode.
        public var deviceID: String?
        /// Reads the clocks that continue after the end of a process. The queue measures the ages of requests with these clocks.
        package var time: @Sendable () -> SnapshotTime = { .now() }
        /// The file system: the real one, or a simulated one in tests.
        package var files: any JournalFileSystem = SystemFiles()
        /// The settings of the journal file. The `deviceID` of these options replaces the `deviceID` of the journal.
        package var journal = JournalOptions()

        /// Creates the default options.
        public init() {}
    }

    /// The client that sends the requests.
    public let client: APIClient
    /// The settings with which the queue was opened. The times ``Options/watchdog`` and ``Options/lease`` are at least 100 ms.
    public let options: Options
    /// The journal, which is the file with the entries of the queue, and the ledger, which is the state that results from the entries. Take
    /// the lock of the journal before the locks of ``dispatcher`` and ``hub``, never after them.
    let journal: Journal<Ledger>
    /// The subscribers, and the callers that wait for the outcome of a request.
    let hub: ChangeHub
    /// Knows which lanes are sending or delayed, in this process only.
    let dispatcher: Mutex<Dispatcher>
    /// A random number that identifies this object among all processes. The journal contains the number of the sender.
    let holder: UInt64
    /// The base URL of the client. Requests to other servers are paused.
    let server: String
    /// The running drain, shared by its callers. The result is the number of stops that precede the call of the drain.
    let flight = SingleFlight<UInt64>()
    /// The running change that gives up the role of the sender, shared by its callers. The result is the value of ``resignCount`` when the
    /// change began.
    let resignation = SingleFlight<UInt64>()
    /// The number of calls of ``resign()``.
    let resignCount = Atomic<UInt64>(0)
    /// The number of changes of the session. When the server refuses a call as unauthorized, the queue compares this number with the number
    /// at the beginning of the call. If the session has changed since, usually by a sign-in, the queue doesn't pause the account.
    let sessionChanges = Atomic<UInt64>(0)
    /// The owners that the app signed out and whose requests could not be removed. The value is the largest sequence number of an entry at
    /// the sign-out. Requests with later entries belong to a later sign-in.
    let signedOut = Mutex<[QueueOwner: UInt64]>([:])
    /// The ends of requests that could not be written, for example because the disk failed. They exist only in memory.
    let unwritten = Mutex<[QueuedRequestID: UnwrittenEnd]>([:])
    /// The first failed write to the journal since the last call of ``takeWriteFailure()``.
    let writeFailure = Mutex<QueueError?>(nil)
    /// The pauses that the queue last reported to subscribers. The queue reports only changes.
    let announced = Mutex<[QueueOwner: QueuePause]>([:])

    private init(client: APIClient, server: String, options: Options, journal: Journal<Ledger>, hub: ChangeHub) {
        var options = options
        // Without a positive watchdog, `run()` would never sleep. Without a positive lease, this process would never be the sender.
        options.watchdog = max(options.watchdog, .milliseconds(100))
        options.lease = max(options.lease, .milliseconds(100))
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

    /// Opens the queue in a folder, and creates the folder if it does not exist.
    ///
    /// The method reads and verifies the whole file, and repairs the file. It removes an incomplete transaction, which a killed process has
    /// left. It copies damaged bytes to another file. The queue sends no request before ``run()``, ``drain()`` or
    /// `send(_:_:_:query:options:context:)` is called.
    ///
    /// The queue observes the session of the client's `AuthorizeMiddleware` and the client's connectivity monitor, if the client has them.
    /// - Parameters:
    ///   - folder: A folder that contains nothing else, such as one in Application Support or in the container of an app group. Several
    ///     processes may open the folder.
    ///   - client: The client that sends the requests. The client must have a base URL. Requests have the tokens of the client's session.
    ///   - options: The settings of the queue.
    /// - Returns: The queue, which holds no lock between calls. To close the queue, release it.
    /// - Throws: ``QueueError/locked`` before the first unlock of the device. In this case, nothing was changed, so try again later.
    ///   ``QueueError/invalidRequest(_:)`` if the client has no base URL. ``QueueError/storage(_:)`` if the files can't be read or written,
    ///   if another process uses the files for longer than 10 s, or if the task was canceled.
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

    /// Whether the queue was copied from another device or folder, such as by the restore of a backup.
    ///
    /// The requests of a copy may have been delivered before or after the copy was made. Therefore, the queue sends neither old nor new
    /// requests until the app calls ``adopt()``. Requests can still be stored, read and removed.
    public var isRestored: Bool { journal.report.isRestored }

    /// Makes this device and folder the owner of a copied queue. The queue then sends its requests. If the queue was not copied, the method
    /// only rewrites the file.
    ///
    /// Before the call, remove requests that may have been delivered already. When the method returns, the change survives a loss of power.
    /// - Throws: ``QueueError/locked`` or ``QueueError/storage(_:)`` if the file can't be rewritten. ``isRestored`` then stays `true`.
    public func adopt() async throws(QueueError) {
        do { try await journal.adopt() } catch { throw QueueError(error) }
        hub.wake()
    }

    /// The number of damaged parts of the file that this process has found. The entries in these parts are lost. An entry may be a request,
    /// or the record of a delivery. The damaged bytes are copied to separate files in the folder, for diagnosis.
    public var damagedPlaces: Int { journal.report.quarantined.count }

    /// All future events of the queue, for one reader. Each access creates a sequence with a separate buffer.
    ///
    /// ```swift
    /// for await event in queue.events {
    ///     if case .deadLettered(let id, let reason) = event { showFailure(id, reason) }
    /// }
    /// ```
    /// Events of other processes arrive when this process next reads the file: at its next change, drain or snapshot.
    public var events: QueueEvents { QueueEvents(subscription: hub.subscribe()) }

    /// The number and the size of the stored requests of all accounts.
    ///
    /// The property reads only memory, in O(number of accounts). Requests that other processes have stored since this process last read the
    /// file are not counted. ``pending(lane:limit:)`` reads the file first.
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

    /// Whether a drain could send a pending request, now or after the delay of its lane, without an action of the user.
    ///
    /// The value is `false` if each pending request waits for the app or the user: its account is paused (``QueuePause``), its lane stopped
    /// at a dead letter, or the queue ``isRestored``. While the credentials of the user can't be read, for example because the device is
    /// locked, a paused account counts as one that may be signed in.
    ///
    /// When the app enters the background, use the property to decide whether to schedule a background task. Like ``counts``, the property
    /// reads only memory. O(number of lanes).
    public var hasRequestsToSend: Bool {
        guard !isRestored else { return false }
        return journal.withState { ledger in
            dispatcher.withLock { $0.hasRequestsToSend(in: ledger) { options.lanePolicies[$0] == .stopsOnFailure } }
        }
    }
}

extension OfflineQueue {
    var now: QueueTime { QueueTime(options.time()) }

    /// Applies the entries of other processes, and then appends the entries that a closure creates to the journal.
    ///
    /// The closure runs under the lock of the journal. The closure reads the ledger with the changes of all processes, and no other process
    /// changes the ledger before the entries are appended. If the closure throws or appends nothing, the file is not changed.
    /// - Parameters:
    ///   - isDurable: Whether the method waits until the entries survive a loss of power.
    ///   - body: Decides on the entries. The closure must not use the journal.
    /// - Throws: The error of the closure, or the error of the journal as a ``QueueError``.
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

    /// Encrypts the content of a request if the queue has a cipher. The cipher binds the result to the request and its owner: content that
    /// was moved to another request can't be decrypted.
    /// - Throws: ``QueueError/locked`` if the cipher fails.
    func seal(_ bytes: [UInt8], of id: QueuedRequestID, _ owner: QueueOwner) throws(QueueError) -> SealedContent {
        guard let cipher = options.cipher else { return SealedContent(bytes: bytes) }
        do {
            return SealedContent(isEncrypted: true, bytes: try cipher.seal(bytes, binding: binding(id, owner)))
        } catch {
            throw .locked
        }
    }

    /// Decrypts the content of a request.
    /// - Throws: ``QueueError/locked`` if the content is encrypted and the queue has no cipher, or if the cipher fails.
    func open(_ sealed: SealedContent, of id: QueuedRequestID, _ owner: QueueOwner) throws(QueueError) -> [UInt8] {
        guard sealed.isEncrypted else { return sealed.bytes }
        guard let cipher = options.cipher else { throw .locked }
        do { return try cipher.open(sealed.bytes, binding: binding(id, owner)) } catch { throw .locked }
    }

    /// Returns the authenticated data for the cipher: the identifier of the request, the server and the account.
    private func binding(_ id: QueuedRequestID, _ owner: QueueOwner) -> [UInt8] {
        var writer = QueueWriter()
        writer.write(id.rawValue)
        writer.write(owner.server)
        writer.write(owner.account)
        return writer.bytes
    }

    /// Reads the content of a request from its frame, which is a record in the journal file, and decrypts the content. The method takes no
    /// lock of the file.
    /// - Parameter frame: The sequence number of the frame with the present content (``Ledger/Record/content``).
    /// - Throws: ``QueueError/unknownRequest`` if the frame is no longer in the file or has another form. ``QueueError/locked`` if the
    ///   content can't be decrypted. ``QueueError/storage(_:)`` if the content can't be read.
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
    /// Converts an error of the journal or of a closure. A ``QueueError`` stays the same. Errors without a corresponding case, such as
    /// `CancellationError`, become ``QueueError/storage(_:)``.
    init(_ error: any Error) {
        switch error {
        case let error as QueueError: self = error
        case JournalError.locked: self = .locked
        case JournalError.missing: self = .unknownRequest
        default: self = .storage(error)
        }
    }
}
