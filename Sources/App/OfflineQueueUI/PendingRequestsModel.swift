public import AccountKit
public import ErrorContract
import Foundation
public import Observation
public import OfflineQueue
import ResilientHTTP
import Synchronization
import Timekeeping

/// The model of the screen that lists the requests of an offline queue.
///
/// The model lists the requests of the signed-in account and the requests without an account. For other accounts, the model shows only the
/// number of requests, because several users may share a device. A view calls ``run()`` while the view is visible:
///
/// ```swift
/// let model = PendingRequestsModel(queue: queue, language: .english) { request in
///     request.context == "note_create" ? "New note" : "Change"
/// }
/// // In the view:
/// .task { await model.run() }
/// ```
///
/// The model doesn't send requests. The app sends them with `OfflineQueue.run()`.
///
/// An update reads at most ``limit`` requests of each list from the disk. There is at most one update per ``updateInterval``, even if many
/// events occur in this time. A queue that sends many requests therefore doesn't keep the main thread busy.
///
/// In SwiftUI, use `PendingRequestsScreen`, which runs the model. For a view with another design, or in UIKit, use the model alone.
@Observable
@MainActor
public final class PendingRequestsModel: ScreenModel {
    /// The minimum time between two updates of the list: 250 ms.
    public static let updateInterval = Duration.milliseconds(250)

    /// The language of the screen.
    public let language: Language
    /// The texts of the screen: the client's catalog with the app's own translations.
    public let catalogue: ErrorCatalogue
    /// Runs the actions that the screen's buttons start, one at a time.
    public let work = ScreenWork()
    /// The requests that are to be sent, in the order in which they were stored; at most ``limit``.
    public private(set) var waiting: [PendingRequest] = []
    /// The dead letters, which wait for the user's decision, the oldest first; at most ``limit``.
    public private(set) var failed: [PendingRequest] = []
    /// The notices about the whole queue, shown above the list.
    public private(set) var notices: [PendingNotice] = []
    /// The number of requests that are neither in ``waiting`` nor in ``failed``, because they exceed ``limit`` or can't be read.
    public private(set) var hiddenCount = 0
    /// Whether the list was loaded at least once. Until then, the lists are empty and ``emptyText`` is `nil`.
    public private(set) var isLoaded = false
    /// The question before an action; `nil` if there is no question.
    public private(set) var confirmation: PendingConfirmation?
    /// The number of questions so far, which identifies the latest one. A question that is asked again is equal to the earlier one.
    package private(set) var confirmationNumber = 0
    /// The alert to show; `nil` if there is no alert. An alert reports an error of the queue, such as an unreadable file. Failures of
    /// requests are shown in their rows instead.
    ///
    /// While ``confirmation`` asks the user, the value is `nil`, because a screen shows one of them at a time. The alert follows after the
    /// user has decided.
    public var currentAlert: ScreenAlert? { confirmation == nil ? alert : nil }
    /// The text that VoiceOver should speak. Each change is an announcement.
    public private(set) var announcement: ScreenAnnouncement?
    /// The maximum number of rows in each of the two lists; 100 by default. ``hiddenCount`` is the number of further requests.
    public let limit: Int

    /// The queue, which the app runs.
    private let queue: OfflineQueue
    /// Returns the name of a request for its row.
    private let title: @MainActor (QueuedRequest) -> String
    /// Requests an update from ``run()``; `nil` before ``run()`` was called. Any thread reports a change of the network.
    private nonisolated let changes = Mutex<AsyncStream<Void>.Continuation?>(nil)
    /// The alert that is shown, or that waits until ``confirmation`` is closed.
    private var alert: ScreenAlert?
    /// Whether an alert has reported that the list can't be read.
    @ObservationIgnored private var isUnreadable = false
    /// The last failure of each request since the screen appeared. The queue doesn't store a failure after which it retries the request.
    @ObservationIgnored package private(set) var failures: [QueuedRequestID: QueueFailure] = [:]
    /// The number of deliveries at the last update.
    @ObservationIgnored private var delivered = 0
    /// The number of alerts so far, which is also the id of the latest alert.
    @ObservationIgnored private var alertCount = 0

    /// Creates the model. From now on, the model observes the network.
    /// - Parameters:
    ///   - queue: The queue, which the app runs.
    ///   - language: The language of the screen.
    ///   - limit: The maximum number of rows in each of the two lists. Each row is read from the disk. A negative number counts as 0.
    ///   - title: Returns the name of a request in the language of the screen. The model calls the closure for each row of an update. Don't
    ///     return the path of the request, because users don't know it.
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
        queue.client.environment.connectivity?.onChange(of: self) { model, _ in model.requestUpdate() }
    }

    /// Updates the lists when the queue or the network changes, until the task is canceled. Call this method while the screen is visible.
    /// Only one call may run at a time.
    ///
    /// The first update happens at once. If this method doesn't run, the lists only change when ``load()`` is called, and no request is
    /// announced.
    public func run() async {
        // A stream ends with the task that reads it, so each run needs its own stream.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        changes.withLock { $0 = continuation }
        let events = queue.events
        let clock = queue.client.environment.clock
        await load()
        await withTaskGroup { group in
            group.addTask {
                for await event in events { await self.note(event) }
            }
            for await _ in stream {
                await load()
                // All changes during this delay cause only one update.
                try? await clock.sleep(until: clock.now + Self.updateInterval)
            }
            group.cancelAll()
        }
    }

    /// Reads the lists from the queue.
    ///
    /// If the queue can't be read, the lists don't change, and the model shows an alert. If further updates fail, the model shows no
    /// further alert. If the task is canceled, the model shows no alert. ``run()`` calls this method for each update.
    public func load() async {
        do throws(QueueError) {
            show(try await queue.snapshot(limit: limit))
            (isLoaded, isUnreadable) = (true, false)
        } catch {
            // A canceled update reads nothing, because the screen has disappeared.
            guard !Task.isCancelled else { return }
            // There is one alert for any number of failed updates.
            if !isUnreadable { fail(error) }
            isUnreadable = true
        }
    }

    /// Sends all requests now instead of at their next scheduled time, and reads the list. The method doesn't wait for the responses.
    ///
    /// The method calls `OfflineQueue.wake()`, which also ends the pauses of accounts whose credentials were refused. Requests are only
    /// sent if the app runs the queue.
    public func sendNow() async {
        queue.wake()
        await load()
    }

    /// Performs an action of a request. If the action may lose or repeat a change, the method only sets ``confirmation``.
    ///
    /// If the request is no longer in the list, the method does nothing.
    /// - Parameters:
    ///   - action: The action, which should be in ``PendingRequest/actions``.
    ///   - id: The request.
    /// - Returns: `ErrorPresentation.Action.signIn` if the app has to show the sign-in screen.
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
    ///
    /// - Parameter notice: The notice. If it has no button, the method does nothing.
    /// - Returns: `ErrorPresentation.Action.signIn` if the app has to show the sign-in screen.
    @discardableResult
    public func perform(_ notice: PendingNotice) async -> ErrorPresentation.Action? {
        switch notice.kind {
        case .signInNeeded: return .signIn
        case .restored: await change(nil) { queue throws(QueueError) in try await queue.adopt() }
        case .offline, .otherAccount: break
        }
        return nil
    }

    /// Removes the question, and then performs the action that the user confirmed.
    /// - Parameter question: The value of ``confirmation``.
    public func confirm(_ question: PendingConfirmation) async {
        dismissConfirmation()
        await carryOut(question.action, on: question.id)
    }

    /// Removes ``confirmation`` without performing its action.
    public func dismissConfirmation() { confirmation = nil }

    /// Removes ``confirmation`` without performing its action. If the number belongs to an earlier question, the method does nothing.
    /// - Parameter number: The value of ``confirmationNumber`` when the question was shown.
    package func dismissConfirmation(_ number: Int) {
        if number == confirmationNumber { dismissConfirmation() }
    }

    /// Removes an alert after it was closed. If the id belongs to an earlier alert, the method does nothing.
    /// - Parameter id: The id of the alert that was closed, as in ``currentAlert``.
    public func dismissAlert(_ id: ScreenAlert.ID) {
        if alert?.id == id { alert = nil }
    }

    /// Performs the action of an alert. The action "Try Again" reads the list.
    /// - Parameter action: The action that the user chose.
    /// - Returns: The action if the app has to perform it, such as opening the settings; `nil` if the model has performed it.
    @discardableResult
    public func perform(_ action: ErrorPresentation.Action) async -> ErrorPresentation.Action? {
        alert = nil
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

    /// The text about requests that are not listed; `nil` if all requests are listed.
    public var hiddenText: String? {
        hiddenCount > 0 ? text(PendingText.more.filling("number", with: hiddenCount.formatted(.number.locale(locale)))) : nil
    }

    /// The label of the button that calls ``sendNow()``.
    public var sendNowLabel: String { text(PendingText.sendNow) }

    /// Returns the label of a button.
    /// - Parameter action: The action of a row.
    /// - Returns: The label in the language of the screen.
    public func label(of action: PendingRequest.Action) -> String { text(action.label) }

    private var locale: Locale { Locale(identifier: language.rawValue) }
}

extension PendingRequestsModel {
    /// Records an event of the queue and requests an update. If a request becomes a dead letter, VoiceOver announces the failure.
    private func note(_ event: QueueEvent) {
        switch event {
        case .failed(let id, let failure): failures[id] = failure
        case .sending(let id), .delivered(let id), .removed(let id): failures[id] = nil
        case .deadLettered(let id, _), .expired(let id):
            failures[id] = nil
            announce(PendingText.changeFailed)
        case .discarded: failures = failures.filter { queue.status(of: $0.key) != nil }
        // One of the missing events can be a later attempt of any request.
        case .missed: failures = [:]
        case .queued, .edited, .revived, .paused, .resumed: break
        }
        requestUpdate()
    }

    /// Requests an update from ``run()``.
    private nonisolated func requestUpdate() { changes.withLock(\.self)?.yield() }

    /// Shows a snapshot of the queue: the rows, the notices, and the number of hidden requests. Removes ``confirmation`` if its request is
    /// no longer in the lists.
    private func show(_ snapshot: QueueSnapshot) {
        let wasEmpty = waiting.isEmpty && failed.isEmpty
        waiting = snapshot.pending.map { row(for: $0, isStopped: snapshot.stopped.contains($0.id)) }
        failed = snapshot.deadLetters.map { row(for: $0, isStopped: false) }
        hiddenCount = max(0, snapshot.total - waiting.count - failed.count)
        notices = notices(of: snapshot)
        if let confirmation, !(waiting + failed).contains(where: { $0.id == confirmation.id }) { self.confirmation = nil }
        // The lists also become empty if the user removes the last request, or signs out.
        let deliveries = queue.counts.delivered
        if !wasEmpty, waiting.isEmpty, failed.isEmpty, deliveries > delivered { announce(PendingText.empty) }
        delivered = deliveries
    }

    /// Returns the notices in the order in which they are shown: restored, offline, signed out, other accounts.
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

    /// Returns the row of a request.
    /// - Parameters:
    ///   - request: The request.
    ///   - isStopped: Whether the request's lane waits for the user's decision about an earlier request.
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

    /// Returns the state of a request. If a request waits both for its stopped lane and for the network, the result is
    /// `waitingForPredecessor`, because the user can act on the lane.
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

    /// Returns the actions that a state allows.
    /// - Parameters:
    ///   - state: The state of the request.
    ///   - isSent: Whether an attempt was made. After an attempt, the request can only be removed, but not canceled.
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

    /// Asks the user before an action. A question that is already shown is replaced. While an alert is shown, the method asks nothing. The
    /// user can choose the action again.
    private func ask(_ action: PendingRequest.Action, about id: QueuedRequestID) {
        guard currentAlert == nil else { return }
        confirmationNumber += 1
        confirmation = PendingConfirmation(
            id: id,
            action: action,
            message: text(action == .retry ? PendingText.retryQuestion : PendingText.removeQuestion),
            confirmLabel: label(of: action),
            cancelLabel: text(ContractText.cancel)
        )
    }

    /// Retries or removes a request without asking the user.
    private func carryOut(_ action: PendingRequest.Action, on id: QueuedRequestID) async {
        await change(id) { queue throws(QueueError) in
            if action == .retry { try await queue.retry(id) } else { try await queue.remove(id) }
        }
    }

    /// Changes the queue and reads the list again. If the task is canceled, the queue may be unchanged, and there is no alert.
    ///
    /// If an attempt has begun meanwhile, the model asks the user whether to remove the request. If the request was delivered or changed
    /// meanwhile, the new list shows it, and there is no alert.
    /// - Parameters:
    ///   - id: The request; `nil` for a change of the whole queue.
    ///   - body: Changes the queue.
    private func change(_ id: QueuedRequestID?, _ body: (OfflineQueue) async throws(QueueError) -> Void) async {
        do throws(QueueError) {
            try await body(queue)
        } catch {
            switch error {
            case .attemptBegan: if let id { ask(.remove, about: id) }
            // The request was delivered or changed meanwhile, and the new list shows it.
            case .unknownRequest, .notDeadLetter: break
            default: if !Task.isCancelled { fail(error) }
            }
        }
        await load()
    }

    /// Shows an alert about an error of the queue.
    private func fail(_ error: QueueError) {
        let now = queue.client.environment.wallClock()
        alertCount += 1
        let shown = error.apiError(context: nil).presentation(in: language, now: now, catalogue: catalogue)
        alert = ScreenAlert(id: alertCount, presentation: shown)
    }

    /// Sets an announcement with a new id, so that the same text is spoken again.
    private func announce(_ text: LocalizedText) {
        announcement = ScreenAnnouncement(id: (announcement?.id ?? 0) + 1, text: self.text(text))
    }
}
