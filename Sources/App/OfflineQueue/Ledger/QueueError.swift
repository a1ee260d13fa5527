public import ErrorContract

/// The reason why a queue did not do what the app requested. Nothing was stored or changed, with one exception: see ``storage(_:)``.
///
/// Show ``full(_:)`` and ``storage(_:)`` to the user as "could not be saved". After ``locked``, try again later. All other cases mean that
/// the app made an invalid call, or that the state of the request has changed meanwhile.
public enum QueueError: Error, Sendable {
    /// The path issues or accepts credentials, such as a sign-in, a refresh or a password reset. Such calls are never stored.
    case carriesCredentials
    /// The endpoint requires the token of a session, but the account is unknown. Either no user is signed in, or the credentials contain no
    /// `Credentials.userID`.
    case noIdentity
    /// The requests of the account have reached a limit of ``QueueLimits``. Remove dead letters, or wait until requests are sent.
    case full(Limit)
    /// The body is larger than ``QueueLimits/body``, or the body is a stream or a file.
    case unsuitableBody
    /// The queue has no such request: it was delivered or removed.
    case unknownRequest
    /// The request can no longer be changed, because the server may have received it, or because it is a dead letter. Use
    /// ``OfflineQueue/remove(_:)`` to remove it.
    case attemptBegan
    /// The request is pending. Only a dead letter can be put back into its lane.
    case notDeadLetter
    /// The client can't make the request, for example because the body can't be encoded. The associated value is the client's error.
    case invalidRequest(APIError)
    /// The files, the key of an encrypted queue or the credentials of the session can't be read now, such as before the first unlock of the
    /// device. Try again later.
    case locked
    /// The files can't be read or written. The disk is full or failed, another process used the files for longer than 10 s, a newer version
    /// of the app wrote them, or the task was canceled (`CancellationError`).
    ///
    /// If only the sync to the disk failed, the change is still in the file, and survives the end of the process. This error is possible
    /// for a durable request, and for any request while more than 4 MiB wait for a sync.
    case storage(any Error)

    /// A limit of ``QueueLimits``.
    public enum Limit: String, Hashable, Sendable {
        /// The number of requests (``QueueLimits/count``).
        case count
        /// The bytes of requests (``QueueLimits/bytes``).
        case bytes
    }
}

extension QueueError: CustomStringConvertible {
    /// A text for a log, without any content of the request.
    public var description: String {
        switch self {
        case .carriesCredentials: "the call carries credentials, which are never stored"
        case .noIdentity: "no account is signed in that the request could belong to"
        case .full(let limit): "the account has used up the queue's \(limit.rawValue)"
        case .unsuitableBody: "the body is too large, or not in memory"
        case .unknownRequest: "the queue has no such request"
        case .attemptBegan: "an attempt to send the request began"
        case .notDeadLetter: "the request is not a dead letter"
        case .invalidRequest(let error): "the client can't make the request: \(error)"
        case .locked: "the files or the key of the queue, or the credentials of the session, are not available"
        case .storage(let error): "the queue can't be stored: \(error)"
        }
    }
}

extension QueueError: APIErrorConvertible {
    /// Returns the error for a call that could neither be sent nor stored. For ``invalidRequest(_:)``, the result is the associated
    /// error. For ``noIdentity``, the result has the code of a missing token. If the task was canceled, the result has the kind
    /// `cancelled`, so that the app shows no error. Otherwise, the result has the kind `custom` and the code `OFFLINE_QUEUE_FULL` or
    /// `OFFLINE_QUEUE_UNAVAILABLE`, with a text for the user in six languages.
    /// - Parameter context: The operation of the app that failed, such as `user_login`. The result contains it, except for
    ///   ``invalidRequest(_:)``.
    public func apiError(context: String?) -> APIError {
        if case .invalidRequest(let error) = self { return error }
        let isCanceled = if case .storage(let cause) = self { cause is CancellationError } else { false }
        var error = APIError(isCanceled ? .cancelled : .custom, context: context, underlying: self)
        error.attempts = 0
        guard !isCanceled else { return error }
        switch self {
        case .full: (error.code, error.presentationText) = (ErrorCode("OFFLINE_QUEUE_FULL"), Self.fullText)
        case .noIdentity: (error.code, error.recovery) = (.authTokenMissing, .signIn)
        case .locked, .storage:
            (error.code, error.presentationText) = (ErrorCode("OFFLINE_QUEUE_UNAVAILABLE"), Self.unavailableText)
            error.recovery = .retry
        default: (error.code, error.presentationText) = (ErrorCode("OFFLINE_QUEUE_UNAVAILABLE"), Self.unavailableText)
        }
        return error
    }

    private static let fullText = LocalizedText(
        en: "Too many changes are waiting to be sent. Connect to the internet so that they can be sent.",
        es: "Hay demasiados cambios pendientes de envío. Conéctate a internet para que se puedan enviar.",
        he: "יותר מדי שינויים ממתינים לשליחה. יש להתחבר לאינטרנט כדי שיהיה אפשר לשלוח אותם.",
        pt: "Há alterações demais aguardando envio. Conecte-se à internet para que possam ser enviadas.",
        fr: "Trop de modifications attendent d’être envoyées. Connectez-vous à internet pour qu’elles puissent l’être.",
        de:
            "Zu viele Änderungen warten darauf, gesendet zu werden. Verbinde dich mit dem Internet, damit sie gesendet werden können."
    )
    private static let unavailableText = LocalizedText(
        en: "The change can't be saved on this device right now.",
        es: "Ahora no se puede guardar el cambio en este dispositivo.",
        he: "כרגע לא ניתן לשמור את השינוי במכשיר הזה.",
        pt: "No momento, não é possível salvar a alteração neste dispositivo.",
        fr: "La modification ne peut pas être enregistrée sur cet appareil pour le moment.",
        de: "Die Änderung kann gerade nicht auf diesem Gerät gespeichert werden."
    )
}
