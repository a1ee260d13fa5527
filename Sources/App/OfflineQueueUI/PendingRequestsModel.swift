public import AccountKit
public import ErrorContract
import Foundation
public import Observation
public import OfflineQueue
import ResilientHTTP
import Timekeeping

/// The model of the screen that lists the requests of an offline queue.
///
/// It lists the requests of the account that is signed in and those of no account. Of other accounts it shows only the number, because
/// several users may share a device. A view runs ``run()`` while it is visible:
///
/// ```swift
/// let model = PendingRequestsModel(queue: queue, language: .english) { request in
///     request.context == "note_create" ? "New note" : "Change"
/// }
/// // In the view:
/// .task { await model.run() }
/// ```
///
/// The model doesn't send: the app runs `OfflineQueue.run()`.
@Observable
@MainActor
public final class PendingRequestsModel: ScreenModel {
    /// The shortest time between two updates of the list.
    public static let updateInterval = Duration.milliseconds(250)

    /// The language of the screen.
    public let language: Language
    /// The texts of the screen: the client's catalog with the app's own translations.
    public let catalogue: ErrorCatalogue
    /// The actions that the screen's buttons start.
    public let work = ScreenWork()
    /// The requests that are to be sent, in order; at most ``limit``.
    public private(set) var waiting: [PendingRequest] = []
    /// The requests that were not sent and wait for the user's decision, the oldest first; at most ``limit``.
    public private(set) var failed: [PendingRequest] = []
    /// The notices about the whole queue, shown above the list.
    public private(set) var notices: [PendingNotice] = []
    /// The number of requests that are not in ``waiting`` and ``failed``, because there are too many.
    public private(set) var hiddenCount = 0
    /// Whether the list was loaded once.
    public private(set) var isLoaded = false
    /// The question before an action, if there is one.
    public private(set) var confirmation: PendingConfirmation?
    /// The alert to show, if there is one.
    public private(set) var currentAlert: ScreenAlert?
    /// The text that VoiceOver should speak. Each change is an announcement.
    public private(set) var announcement: ScreenAnnouncement?
    /// The largest number of rows in each of the two lists.
    public let limit: Int

    private let queue: OfflineQueue
    private let title: @MainActor (QueuedRequest) -> String
    /// Wakes ``run()``; `nil` while it doesn't run.
    @ObservationIgnored private var changes: AsyncStream<Void>.Continuation?
    /// Whether an alert has reported that the list can't be read.
    @ObservationIgnored private var isUnreadable = false
    /// The last failure of each request, since the screen appeared.
    @ObservationIgnored private var failures: [QueuedRequestID: QueueFailure] = [:]
    @ObservationIgnored private var alertCount = 0

    /// Creates the model.
    /// - Parameters:
    ///   - queue: The queue.
    ///   - language: The language of the screen.
    ///   - limit: The largest number of rows in each of the two lists; each is read from the disk.
    ///   - title: Returns the name of a request in the language of the screen. The path of a request is not meant for users.
    public init(
        queue: OfflineQueue,
        language: Language,
        limit: Int = 100,
        title: @escaping @MainActor (QueuedRequest) -> String
    ) {
        self.queue = queue
        self.language = language
        self.limit = limit
        self.title = title
        catalogue = queue.client.catalogue
        queue.client.environment.connectivity?.onChange(of: self) { model, _ in
            Task { @MainActor in model.changes?.yield() }
        }
    }

    /// Updates the list whenever the queue or the network changes, until the task is canceled. Call it while the screen is visible, once at
    /// a time.
    public func run() async {
        // A stream ends with the task that reads it, so that each run has its own.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes = continuation
        let events = queue.events
        let clock = queue.client.environment.clock
        await load()
        await withTaskGroup { group in
            group.addTask {
                for await event in events { await self.note(event) }
            }
            for await _ in stream {
                await load()
                // Further changes meanwhile cause one update.
                try? await clock.sleep(until: clock.now + Self.updateInterval)
            }
            group.cancelAll()
        }
    }

    /// Reads the list.
    public func load() async {
        do throws(QueueError) {
            show(try await queue.snapshot(limit: limit))
            (isLoaded, isUnreadable) = (true, false)
        } catch {
            // One alert for any number of updates.
            if !isUnreadable { fail(error) }
            isUnreadable = true
        }
    }

    /// Tries all requests again at once instead of at the next scheduled time.
    public func sendNow() async {
        queue.wake()
        await load()
    }

    /// Performs an action of a request. An action that may lose or repeat a change sets ``confirmation`` first.
    /// - Returns: ``ErrorPresentation/Action/signIn`` if the app has to show the sign-in screen.
    @discardableResult
    public func perform(_ action: PendingRequest.Action, on id: QueuedRequestID) async -> ErrorPresentation.Action? {
        guard let request = (waiting + failed).first(where: { $0.id == id }) else { return nil }
        switch action {
        case .signIn: return .signIn
        case .cancel: await change(id) { queue throws(QueueError) in try await queue.cancel(id) }
        case .remove where request.mayHaveBeenPerformed: ask(action, about: id)
        case .retry where request.state == .failed(.unknownOutcome): ask(action, about: id)
        case .remove, .retry: await carryOut(action, on: id)
        }
        return nil
    }

    /// Performs the action of a notice.
    /// - Returns: ``ErrorPresentation/Action/signIn`` if the app has to show the sign-in screen.
    @discardableResult
    public func perform(_ notice: PendingNotice) async -> ErrorPresentation.Action? {
        switch notice.kind {
        case .signInNeeded: return .signIn
        case .restored: await change(nil) { queue throws(QueueError) in try await queue.adopt() }
        case .offline, .otherAccount: break
        }
        return nil
    }

    /// Performs the action of a question that the user confirmed.
    public func confirm(_ question: PendingConfirmation) async {
        dismissConfirmation()
        await carryOut(question.action, on: question.id)
    }

    /// Removes ``confirmation`` without its action.
    public func dismissConfirmation() { confirmation = nil }

    public func dismissAlert(_ id: ScreenAlert.ID) {
        if currentAlert?.id == id { currentAlert = nil }
    }

    @discardableResult
    public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        currentAlert = nil
        switch action {
        case .retry, .retryAt, .checkAgain:
            isUnreadable = false
            await load()
        case .dismiss, .fixFields: break
        case .signIn, .requestNewLink, .contactSupport, .openSettings, .updateApp: return action
        }
        return nil
    }
}

extension PendingRequestsModel {
    /// The title of the screen.
    public var screenTitle: String { text(PendingText.title) }

    /// The text of an empty list; `nil` while there are requests, or before the list was loaded.
    public var emptyText: String? { isLoaded && waiting.isEmpty && failed.isEmpty ? text(PendingText.empty) : nil }

    /// The heading of ``waiting``.
    public var waitingTitle: String { text(PendingText.waitingSection) }

    /// The heading of ``failed``.
    public var failedTitle: String { text(PendingText.failedSection) }

    /// The text about requests that are not listed; `nil` if all are.
    public var hiddenText: String? {
        hiddenCount > 0 ? text(PendingText.more.filling("number", with: hiddenCount.formatted(.number.locale(locale)))) : nil
    }

    /// The label of the button that calls ``sendNow()``.
    public var sendNowLabel: String { text(PendingText.sendNow) }

    /// Returns the label of a button.
    public func label(of action: PendingRequest.Action) -> String { text(action.label) }

    private var locale: Locale { Locale(identifier: language.rawValue) }

    private func text(_ text: LocalizedText) -> String { catalogue.text(text, in: language) }
}

extension PendingRequestsModel {
    private func note(_ event: QueueEvent) {
        switch event {
        case .failed(let id, let failure): failures[id] = failure
        case .sending(let id), .delivered(let id), .removed(let id): failures[id] = nil
        case .deadLettered(let id, _), .expired(let id):
            failures[id] = nil
            announce(PendingText.changeFailed)
        case .queued, .edited, .revived, .discarded, .paused, .resumed, .missed: break
        }
        changes?.yield()
    }

    private func show(_ snapshot: QueueSnapshot) {
        let wasEmpty = waiting.isEmpty && failed.isEmpty
        let stopped = Set(snapshot.deadLetters.filter { queue.options.lanePolicies[$0.lane] == .stopsOnFailure }.map(Line.init))
        waiting = snapshot.pending.map { row(for: $0, isStopped: stopped.contains(Line($0))) }
        failed = snapshot.deadLetters.map { row(for: $0, isStopped: false) }
        hiddenCount = max(0, snapshot.total - waiting.count - failed.count)
        notices = notices(of: snapshot)
        if let confirmation, !(waiting + failed).contains(where: { $0.id == confirmation.id }) { self.confirmation = nil }
        if !wasEmpty, waiting.isEmpty, failed.isEmpty { announce(PendingText.empty) }
    }

    private func notices(of snapshot: QueueSnapshot) -> [PendingNotice] {
        func notice(_ kind: PendingNotice.Kind, _ text: LocalizedText, count: Int? = nil, label: LocalizedText? = nil)
            -> PendingNotice
        {
            let filled = count.map { text.filling("number", with: $0.formatted(.number.locale(locale))) } ?? text
            return PendingNotice(kind: kind, text: self.text(filled), actionLabel: label.map { self.text($0) })
        }
        let count = { (pauses: [QueuePause]) in pauses.reduce(0) { $0 + snapshot.others[$1, default: 0] } }
        let (signedOut, others) = (count([.signedOut]), count([.otherAccount, .otherServer]))
        var notices: [PendingNotice] = []
        if queue.isRestored, snapshot.total > 0 {
            notices.append(notice(.restored, PendingText.restored, label: PendingText.sendNow))
        }
        if isOffline, snapshot.total > 0 { notices.append(notice(.offline, PendingText.offline)) }
        if signedOut > 0 {
            notices.append(notice(.signInNeeded, PendingText.signedOut, count: signedOut, label: ContractText.signIn))
        }
        if others > 0 { notices.append(notice(.otherAccount, PendingText.otherAccount, count: others)) }
        return notices
    }

    private func row(for request: QueuedRequest, isStopped: Bool) -> PendingRequest {
        let state = state(of: request, isStopped: isStopped)
        var status = text(state.text)
        var reference: SupportReference?
        if case .deadLetter(let letter) = request.status, letter.reason == .refused, let error = letter.error {
            let shown = error.presentation(in: language, now: letter.date, catalogue: catalogue)
            (status, reference) = (shown.message, shown.supportReference)
        }
        return PendingRequest(
            id: request.id,
            title: title(request),
            created: request.created,
            createdText: request.created.formatted(Date.FormatStyle(date: .abbreviated, time: .shortened, locale: locale)),
            state: state,
            status: status,
            supportReference: reference,
            supportText: reference?.text(in: language, catalogue: catalogue),
            mayHaveBeenPerformed: request.attempts > 0 && state != .failed(.refused),
            actions: actions(for: state, isSent: request.attempts > 0)
        )
    }

    private func state(of request: QueuedRequest, isStopped: Bool) -> PendingRequest.State {
        switch request.status {
        case .deadLetter(let letter): return .failed(letter.reason)
        case .sending: return .sending
        case .paused: return .signInNeeded
        case .pending where isStopped: return .waitingForPredecessor
        case .pending:
            let failure = failures[request.id]
            let isUnreachable = failure.map { $0.status == nil && [.network, .noInternet].contains($0.kind) } ?? false
            if isOffline || isUnreachable { return .waitingForNetwork }
            return failure != nil || request.attempts > 0 ? .waitingForRetry : .waiting
        }
    }

    private func actions(for state: PendingRequest.State, isSent: Bool) -> [PendingRequest.Action] {
        let removal: PendingRequest.Action = isSent ? .remove : .cancel
        return switch state {
        case .sending: []
        case .signInNeeded: [.signIn, removal]
        case .failed: [.retry, .remove]
        case .waiting, .waitingForNetwork, .waitingForRetry, .waitingForPredecessor: [removal]
        }
    }

    private var isOffline: Bool { queue.client.environment.connectivity?.isOnline == false }

    private func ask(_ action: PendingRequest.Action, about id: QueuedRequestID) {
        confirmation = PendingConfirmation(
            id: id,
            action: action,
            message: text(action == .retry ? PendingText.retryQuestion : PendingText.removeQuestion),
            confirmLabel: label(of: action),
            cancelLabel: text(ContractText.cancel)
        )
    }

    private func carryOut(_ action: PendingRequest.Action, on id: QueuedRequestID) async {
        await change(id) { queue throws(QueueError) in
            if action == .retry { try await queue.retry(id) } else { try await queue.remove(id) }
        }
    }

    /// Changes the queue and reads the list again.
    private func change(_ id: QueuedRequestID?, _ body: (OfflineQueue) async throws(QueueError) -> Void) async {
        do throws(QueueError) {
            try await body(queue)
        } catch {
            switch error {
            case .attemptBegan: if let id { ask(.remove, about: id) }
            // It was delivered or changed meanwhile: the list shows it.
            case .unknownRequest, .notDeadLetter: break
            default: fail(error)
            }
        }
        await load()
    }

    private func fail(_ error: QueueError) {
        let now = queue.client.environment.wallClock()
        alertCount += 1
        let shown = error.apiError(context: nil).presentation(in: language, now: now, catalogue: catalogue)
        currentAlert = ScreenAlert(id: alertCount, presentation: shown)
    }

    private func announce(_ text: LocalizedText) {
        announcement = ScreenAnnouncement(id: (announcement?.id ?? 0) + 1, text: self.text(text))
    }
}

/// A lane of an account.
private struct Line: Hashable {
    let owner: QueueOwner
    let lane: String

    init(_ request: QueuedRequest) { (owner, lane) = (request.owner, request.lane) }
}
