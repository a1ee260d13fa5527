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
/// Use a queue for mutations that the user must not lose and whose response can wait. Send a read, or a call whose response the app needs
/// now, with the client itself.
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
/// **Durability.** A request is stored when ``enqueue(_:_:query:body:options:context:isDurable:)`` returns. From then on it survives the
/// end of the process, however the process ends. It survives a loss of power within 50 ms, or when the method returns if `isDurable` is
/// `true`. A damaged place in the file loses the requests in this place only, and ``damagedPlaces`` reports it.
///
/// **Once.** All attempts of a request carry one idempotency key. The queue notes each attempt on disk before its first byte is sent. If
/// the response is lost, the queue repeats the request with its key for as long as the server stores keys (``QueueLimits/keyLifetime``).
/// After that time, the request becomes a dead letter with the reason ``DeadLetter/Reason/unknownOutcome``. The server must support
/// idempotency keys: otherwise a request whose response was lost may be performed twice.
///
/// **Order.** Requests of one lane are sent one at a time, in the order in which they were stored. Lanes don't wait for each other. Up to
/// ``Options/concurrency`` lanes send at the same time.
///
/// **Accounts.** A request is sent only to the server and only with a token of the account that it was stored for. While another account is
/// signed in, the request is paused.
///
/// **Processes.** Several processes, such as an app and its extensions, may open the same folder. Each can store requests; one of them at a
/// time has the role of the sender. If the sender is killed, another process takes the role after ``Options/lease``.
///
/// **Cost.** Opening reads and verifies the whole file. The queue keeps a small record of each stored request in memory, but not its body.
/// Storing a request appends to a file under a lock, and does not wait for the disk to sync unless the request must be durable, or unless
/// more than 4 MiB are not synced yet.
///
/// All methods may be called from any task at the same time.
public final class OfflineQueue: Sendable {
    /// The behavior of a lane after one of its requests became a dead letter.
    public enum LanePolicy: Hashable, Sendable {
        /// The next request is sent at once. This is the default.
        case continues
        /// The lane sends nothing until the app has removed the dead letter with ``OfflineQueue/remove(_:)`` or put it back with
        /// ``OfflineQueue/retry(_:)``. Use it for requests that depend on each other, such as "create" and "edit" of one object.
        case stopsOnFailure
    }

    /// The settings of a queue: limits, pace of sending, encryption, and the handling of sign-outs and copies.
    ///
    /// All processes that share a folder should use the same values. Change the defaults before the queue is opened:
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
        /// The largest number of requests that are sent at the same time, each of another lane. Must be positive: with 0, nothing is sent.
        public var concurrency = 8
        /// The delay of a lane after a failed call: exponential, with full jitter, from at most 1 s after the first failure to at most 300
        /// s. If the server names a longer delay, that one applies. The delay starts again at its base after a success and after
        /// ``OfflineQueue/wake()``.
        public var backoff = Backoff(base: .seconds(1), cap: .seconds(300))
        /// The longest time for which ``OfflineQueue/run()`` sleeps between two drains, in case an event was lost. It is also the delay of
        /// a lane whose next request can't be read from the disk or decrypted.
        public var watchdog: Duration = .seconds(60)
        /// The time for which a process has the role of the sender unless it renews the role. The sender renews it while it sends, after a
        /// third of this time. After a kill of the sender, another process takes over when this time has passed.
        public var lease: Duration = .seconds(5)
        /// Whether the requests of an account are removed when the app signs the account out. By default they are paused until the account
        /// signs in again.
        ///
        /// Only a sign-out by the app counts, not a session that the server ended. If the removal fails, the next drain repeats it. The
        /// process remembers the sign-out in memory only: if it is killed before the removal, the requests stay, paused.
        public var discardsOnSignOut = false
        /// Encrypts the contents of requests; `nil` to store them as they are. A request that was stored with a cipher can't be sent
        /// without one.
        public var cipher: (any QueueCipher)?
        /// Identifies the device, such as by a value in the Keychain that stays on it. A queue that a backup restored on another device
        /// then sends nothing before ``OfflineQueue/adopt()``. With `nil`, a copy is recognized by the identity (inode) of its folder.
        public var deviceID: String?
        /// The clocks that outlive a process. Ages of requests are measured by them.
        package var time: @Sendable () -> SnapshotTime = { .now() }
        /// The files of the system, or those of a test.
        package var files: any JournalFileSystem = SystemFiles()
        /// The settings of the file. The `deviceID` of these options replaces that of the journal.
        package var journal = JournalOptions()

        /// Creates the default options.
        public init() {}
    }

    /// The client that requests are sent with.
    public let client: APIClient
    /// The settings of the queue, as they were when it was opened.
    public let options: Options
    /// The file with the entries of the queue, and the ledger that is derived from them. Its lock is taken before those of ``dispatcher``
    /// and ``hub``, never after.
    let journal: Journal<Ledger>
    /// The subscribers, and the callers that wait for a request.
    let hub: ChangeHub
    /// The lanes that are busy or wait, in this process only.
    let dispatcher: Mutex<Dispatcher>
    /// Identifies this opening of the queue in the role of the sender.
    let holder: UInt64
    /// The base URL of the client. Requests of other servers are paused.
    let server: String
    /// The drain that runs, shared by its callers.
    let flight = SingleFlight<Void>()
    /// The number of changes of the session. A call that is refused as unauthorized compares it with the number at its beginning: if a user
    /// has signed in since, the account is not paused.
    let sessionChanges = Atomic<UInt64>(0)
    /// The owners whose requests are to be discarded because the app signed them out.
    let signedOut = Mutex<Set<QueueOwner>>([])
    /// The pauses that were reported to subscribers, to report changes only.
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

    /// Opens the queue in a folder, and creates the folder if it does not exist.
    ///
    /// The method repairs the file: it removes a transaction that a kill left incomplete, and sets damaged bytes aside. It reads and
    /// verifies the whole file. Nothing is sent before ``run()``, ``drain()`` or ``send(_:_:_:query:options:context:)`` is called.
    ///
    /// The queue observes the session of the client's `AuthorizeMiddleware` and the client's connectivity monitor, if there are any.
    /// - Parameters:
    ///   - folder: A folder that contains nothing else, such as one in Application Support or in the container of an app group. Several
    ///     processes may open it.
    ///   - client: The client that sends the requests. It must have a base URL. Requests carry tokens of its session.
    ///   - options: The settings of the queue.
    /// - Returns: The queue. The object holds no lock between calls; release it to close it.
    /// - Throws: ``QueueError/locked`` before the device was unlocked for the first time: nothing was changed, so try again later.
    ///   ``QueueError/invalidRequest(_:)`` if the client has no base URL. ``QueueError/storage(_:)`` if the files can't be read or written,
    ///   if another process uses them for longer than 10 s, or if the task was canceled.
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

    /// Whether the queue was copied from another device or place, such as by the restore of a backup.
    ///
    /// Its requests may have been delivered before or after the copy was made. Therefore the queue sends nothing, neither old nor new
    /// requests, until the app calls ``adopt()``. Requests can still be stored, read and removed.
    public var isRestored: Bool { journal.report.isRestored }

    /// Makes this device and place the owner of a copied queue, and sends its requests. A queue that was not copied is not changed, except
    /// that its file is rewritten.
    ///
    /// Remove requests that may have been delivered already before the call. The result survives a loss of power when the method returns.
    /// - Throws: ``QueueError/locked`` or ``QueueError/storage(_:)`` if the file can't be rewritten; ``isRestored`` stays `true` then.
    public func adopt() async throws(QueueError) {
        do { try await journal.adopt() } catch { throw QueueError(error) }
        hub.wake()
    }

    /// The number of damaged places in the file that this process has found. The entries in these places are lost: they may be requests, or
    /// notes that a request was delivered. The damaged bytes are copied to separate files in the folder, for diagnosis.
    public var damagedPlaces: Int { journal.report.quarantined.count }

    /// The events of the queue from now on, for one reader. Each access creates a separate sequence with a separate buffer.
    ///
    /// ```swift
    /// for await event in queue.events {
    ///     if case .deadLettered(let id, let reason) = event { showFailure(id, reason) }
    /// }
    /// ```
    /// Events of other processes arrive when this process reads the file next: at its next change, drain or snapshot.
    public var events: QueueEvents { QueueEvents(subscription: hub.subscribe()) }

    /// The number and the size of the stored requests, over all accounts.
    ///
    /// The property reads memory only, in O(number of accounts). It does not include what other processes have stored since this process
    /// last read the file. ``pending(lane:limit:)`` reads the file first.
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

    /// Appends the entries that a closure decides on, after the entries of other processes were applied.
    ///
    /// The closure runs under the lock of the journal: it sees the ledger of all processes, and no other process changes it before the
    /// entries are appended. If the closure throws, or appends nothing, the file is not changed.
    /// - Parameters:
    ///   - isDurable: Whether the method returns only when the entries survive a loss of power.
    ///   - body: Decides on the entries. It must not use the journal.
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

    /// Encrypts the content of a request, if the queue has a cipher. The result is bound to the request and its owner, so that content that
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

    private func binding(_ id: QueuedRequestID, _ owner: QueueOwner) -> [UInt8] {
        var writer = QueueWriter()
        writer.write(id.rawValue)
        writer.write(owner.server)
        writer.write(owner.account)
        return writer.bytes
    }

    /// Reads the content of a request from its frame, and decrypts it. Takes no lock of the file.
    /// - Parameter frame: The sequence number of the frame with the present content (``Ledger/Record/content``).
    /// - Throws: ``QueueError/unknownRequest`` if the frame is no longer in the file or has another form, ``QueueError/locked`` if it can't
    ///   be decrypted, ``QueueError/storage(_:)`` if it can't be read.
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
    /// The error of the queue for an error of the journal or of a closure. All other errors become
    /// ``QueueError/storage(_:)``, including `CancellationError`.
    init(_ error: any Error) {
        switch error {
        case let error as QueueError: self = error
        case JournalError.locked: self = .locked
        case JournalError.missing: self = .unknownRequest
        default: self = .storage(error)
        }
    }
}
