public import ErrorContract
public import Foundation
public import OfflineQueue

/// A row of the screen of pending requests: a request of an `OfflineQueue` with its texts in the language of the screen.
///
/// It is a snapshot. ``PendingRequestsModel`` creates new rows when the queue or the network changes. Two rows are equal if they show the
/// same, so SwiftUI updates only changed rows. Pass ``id`` to the model to act on the request.
public struct PendingRequest: Identifiable, Hashable, Sendable {
    /// The state of a request, as far as the user is concerned.
    ///
    /// The queue doesn't store all of these states: the model derives them from the stored status, the last failure, the network and the
    /// lane.
    public enum State: Hashable, Sendable {
        /// It waits for its turn. No attempt has failed.
        case waiting
        /// It was not tried yet or failed, and the device is offline or the server can't be reached.
        case waitingForNetwork
        /// An attempt failed, and the queue sends the request again at its next scheduled time.
        case waitingForRetry
        /// A request before it in its lane failed, and the lane waits for the user's decision. Only lanes with the policy `stopsOnFailure`
        /// wait.
        case waitingForPredecessor
        /// The account has to sign in again. The request stays in the queue until then.
        case signInNeeded
        /// An attempt is in flight, so the user can't act on the request.
        case sending
        /// It is a dead letter with a reason: it is not sent again unless the user retries it.
        case failed(DeadLetter.Reason)
    }

    /// An action of the user on a request.
    ///
    /// Not every state allows every action: see ``PendingRequest/actions``.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// Sign in, so that it can be sent.
        case signIn
        /// Send a failed request again. If its outcome is unknown, the model asks before, because the change could take effect twice.
        case retry
        /// Don't send a request that was not sent yet. If an attempt begins at the same time, the model asks whether to remove the request.
        case cancel
        /// Remove a request that failed, or that may have been sent. In the latter case, the model asks before, because a removal doesn't
        /// undo the change.
        case remove
    }

    /// Identifies the request.
    public let id: QueuedRequestID
    /// The name that the app gave the request, in the language of the screen.
    public let title: String
    /// The time at which the user made the request, by the clock of the device.
    public let created: Date
    /// ``created`` as date and time in the language of the screen.
    public let createdText: String
    /// The state.
    public let state: State
    /// The state as a text in the language of the screen. For a refused request, it is the text of the server's error.
    public let status: String
    /// The code, the request id and the time by which support finds the refusal; `nil` if the user does not need support.
    public let supportReference: SupportReference?
    /// ``supportReference`` with its label, in the language of the screen.
    public let supportText: String?
    /// Whether the server may have performed the request: at least one attempt was made, and the server didn't refuse it.
    public let mayHaveBeenPerformed: Bool
    /// The actions that the state allows, in the order of their buttons; empty while the request is sent.
    public let actions: [Action]

    /// Whether the request is not sent again unless the user retries it.
    ///
    /// Such a request is in ``PendingRequestsModel/failed``.
    public var isFailed: Bool { if case .failed = state { true } else { false } }
}

/// A notice about the whole queue, shown above the list.
///
/// A notice explains why requests are not sent, if their rows can't explain it: for example, because they belong to another account. Pass
/// it to `PendingRequestsModel.perform(_:)` when the user taps its button.
public struct PendingNotice: Identifiable, Hashable, Sendable {
    /// The subject.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The device has no connection, and the queue is not empty. There is no button.
        case offline
        /// No user is signed in, and requests of an account wait.
        case signInNeeded
        /// Requests of another account or another server wait. The notice contains their number only. There is no button.
        case otherAccount
        /// The queue was copied from another device, and sends nothing before the user agrees.
        case restored
    }

    /// The subject.
    public let kind: Kind
    /// The text, in the language of the screen.
    public let text: String
    /// The label of the button; `nil` if there is none.
    public let actionLabel: String?

    /// The subject: each occurs once.
    public var id: Kind { kind }
}

/// A question before an action that may lose or repeat a change.
///
/// The model sets it as ``PendingRequestsModel/confirmation``. A view shows it, and calls `confirm(_:)` or `dismissConfirmation()`. The
/// model removes it if the request leaves the list meanwhile.
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
    /// The text of the state; that of a refusal comes from its error.
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
