public import ErrorContract
public import Foundation
public import OfflineQueue

/// A row of the screen of pending requests: a request of an `OfflineQueue` with its texts in the language of the screen.
///
/// A row is a snapshot. When the queue or the network changes, ``PendingRequestsModel`` creates new rows. Two rows are equal if they show
/// the same contents, so SwiftUI updates only changed rows. To act on the request, pass ``id`` to the model.
public struct PendingRequest: Identifiable, Hashable, Sendable {
    /// The state of a request that is shown to the user.
    ///
    /// The queue doesn't store all of these states. The model derives them from the stored status, the last failure, the network and the
    /// lane. A lane is a named sequence of requests, which the queue sends one after another.
    public enum State: Hashable, Sendable {
        /// The request waits until it is sent. No attempt has failed.
        case waiting
        /// The device is offline, or the server can't be reached. The request was not tried yet, or an attempt failed.
        case waitingForNetwork
        /// An attempt failed. The queue sends the request again at its next scheduled time.
        case waitingForRetry
        /// An earlier request of the same lane failed, and the lane waits for the user's decision. This state occurs only in lanes with the
        /// policy `stopsOnFailure`.
        case waitingForPredecessor
        /// The account has to sign in again. The request stays in the queue until then.
        case signInNeeded
        /// The request is being sent, so the user can't act on it.
        case sending
        /// The request is a dead letter with a reason. The queue sends the request again only if the user retries it.
        case failed(DeadLetter.Reason)
    }

    /// An action that the user performs on a request.
    ///
    /// Not every state allows every action, see ``PendingRequest/actions``.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// Sign in, so that the request can be sent.
        case signIn
        /// Send a failed request again. If the outcome of the request is unknown, the change could take effect twice, so the model asks the
        /// user first.
        case retry
        /// Don't send a request that was not sent yet. If an attempt begins at the same time, the model asks whether to remove the request.
        case cancel
        /// Remove a request that failed, or that may have been sent. If the request may have been sent, the model asks the user first,
        /// because the removal doesn't undo a change at the server.
        case remove
    }

    /// Identifies the request.
    public let id: QueuedRequestID
    /// The name of the request in the language of the screen. The app provides it.
    public let title: String
    /// The time at which the user made the request, by the clock of the device.
    public let created: Date
    /// ``created`` as date and time in the language of the screen.
    public let createdText: String
    /// The state.
    public let state: State
    /// The text of the state in the language of the screen. For a refused request, the text of the server's error.
    public let status: String
    /// The code, the request id and the time with which support finds the refusal; `nil` if the user does not need support.
    public let supportReference: SupportReference?
    /// The text of ``supportReference`` with its label, in the language of the screen.
    public let supportText: String?
    /// Whether the server may have performed the request. If `true`, at least one attempt was made, and the server didn't refuse the
    /// request.
    public let mayHaveBeenPerformed: Bool
    /// The actions that the state allows, in the order of their buttons; empty while the request is being sent.
    public let actions: [Action]

    /// Whether the request is a dead letter, which is sent again only if the user retries it.
    ///
    /// If `true`, ``PendingRequestsModel/failed`` contains the request.
    public var isFailed: Bool { if case .failed = state { true } else { false } }
}

/// A notice about the whole queue, shown above the list.
///
/// A notice explains why requests are not sent, if the rows can't explain it. For example, the requests belong to another account. When the
/// user taps the button of the notice, pass the notice to `PendingRequestsModel.perform(_:)`.
public struct PendingNotice: Identifiable, Hashable, Sendable {
    /// The subject of the notice.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The device has no connection, and the queue is not empty. There is no button.
        case offline
        /// No user is signed in, and requests of an account wait.
        case signInNeeded
        /// Requests of another account or another server wait. The notice contains only their number. There is no button.
        case otherAccount
        /// The queue was copied from another device or folder. The queue sends no request before the user agrees.
        case restored
    }

    /// The subject of the notice.
    public let kind: Kind
    /// The text, in the language of the screen.
    public let text: String
    /// The label of the button; `nil` if there is no button.
    public let actionLabel: String?

    /// The subject of the notice. Each subject occurs at most once.
    public var id: Kind { kind }
}

/// A question before an action that may lose or repeat a change.
///
/// The model sets the question as ``PendingRequestsModel/confirmation``. A view shows the question. If the user agrees, the view calls
/// `confirm(_:)` of the model, and otherwise `dismissConfirmation()`. If the request leaves the list meanwhile, the model removes the
/// question.
public struct PendingConfirmation: Identifiable, Hashable, Sendable {
    /// The request.
    public let id: QueuedRequestID
    /// The action to confirm.
    public let action: PendingRequest.Action
    /// The question, in the language of the screen.
    public let message: String
    /// The label of the button that performs the action.
    public let confirmLabel: String
    /// The label of the button that does nothing.
    public let cancelLabel: String
}

extension PendingRequest.State {
    /// The text of the state. For a refused request, the row shows the text of the server's error instead.
    var text: LocalizedText {
        switch self {
        case .waiting: PendingText.waiting
        case .waitingForNetwork: PendingText.waitingForNetwork
        case .waitingForRetry: PendingText.waitingForRetry
        case .waitingForPredecessor: PendingText.waitingForPredecessor
        case .signInNeeded: PendingText.signInToContinue
        case .sending: PendingText.sending
        case .failed(.refused), .failed(.failedRepeatedly): PendingText.failed
        case .failed(.unknownOutcome): PendingText.unknownOutcome
        case .failed(.expired): PendingText.expired
        }
    }
}

extension PendingRequest.Action {
    /// The label of the button.
    var label: LocalizedText {
        switch self {
        case .signIn: ContractText.signIn
        case .retry: ContractText.retry
        case .cancel: PendingText.cancel
        case .remove: PendingText.remove
        }
    }
}
