public import ErrorContract
public import Foundation
public import OfflineQueue

/// A row of the screen of pending requests.
public struct PendingRequest: Identifiable, Hashable, Sendable {
    /// The state of a request, as far as the user is concerned.
    public enum State: Hashable, Sendable {
        /// It waits for its turn.
        case waiting
        /// The server can't be reached.
        case waitingForNetwork
        /// An attempt failed, and the request is sent again.
        case waitingForRetry
        /// A request before it in its lane failed, and the lane waits for the user's decision.
        case waitingForPredecessor
        /// The account has to sign in again.
        case signInNeeded
        /// It is being sent.
        case sending
        /// It is not sent again unless the user retries it.
        case failed(DeadLetter.Reason)
    }

    /// An action of the user on a request.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// Sign in, so that it can be sent.
        case signIn
        /// Send a failed request again.
        case retry
        /// Don't send a request that was not sent yet.
        case cancel
        /// Remove a request that failed, or that may have been sent.
        case remove
    }

    /// Identifies the request.
    public let id: QueuedRequestID
    /// The name that the app gave the request.
    public let title: String
    /// When the user made the request.
    public let created: Date
    /// ``created`` as date and time in the language of the screen.
    public let createdText: String
    /// The state.
    public let state: State
    /// The state as a text in the language of the screen; for a refused request, the server's reason.
    public let status: String
    /// The facts by which support finds the refusal; `nil` if the user does not need support.
    public let supportReference: SupportReference?
    /// ``supportReference`` with its label, in the language of the screen.
    public let supportText: String?
    /// Whether the server may have performed the request.
    public let mayHaveBeenPerformed: Bool
    /// The actions that the state allows, in the order of their buttons.
    public let actions: [Action]

    /// Whether the request is not sent again unless the user retries it.
    public var isFailed: Bool { if case .failed = state { true } else { false } }
}

/// A notice about the whole queue, shown above the list.
public struct PendingNotice: Identifiable, Hashable, Sendable {
    /// The subject.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The device has no connection.
        case offline
        /// No user is signed in, and requests of an account wait.
        case signInNeeded
        /// Requests of another account wait.
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
