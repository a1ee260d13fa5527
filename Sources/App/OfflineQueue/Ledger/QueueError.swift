public import ErrorContract

/// Why a queue did not do what the app asked for. Nothing was stored or changed.
public enum QueueError: Error, Sendable {
    /// The endpoint issues or takes credentials, or the call carries some. Such calls are never stored.
    case carriesCredentials
    /// The call carries the token of a session, but no user is signed in or the session does not name the account.
    case noIdentity
    /// The requests of the account use up a limit.
    case full(Limit)
    /// The body is larger than ``QueueLimits/body``, or it is a stream or a file.
    case unsuitableBody
    /// There is no such request: it was delivered or removed.
    case unknownRequest
    /// An attempt to send the request began: the server may have performed it, and it can no longer be changed.
    case attemptBegan
    /// The request is not a dead letter.
    case notDeadLetter
    /// The client can't make the request.
    case invalidRequest(APIError)
    /// The files of the queue can't be read now, such as on a locked device, or the key of an encrypted queue is missing.
    case locked
    /// The queue was copied from another device or place, and the app has not called ``OfflineQueue/adopt()``.
    case restored
    /// The files can't be written, such as on a full disk.
    case storage(any Error)

    /// A limit of ``QueueLimits``.
    public enum Limit: String, Hashable, Sendable {
        /// The number of requests.
        case count
        /// The bytes of requests.
        case bytes
    }
}

extension QueueError: CustomStringConvertible {
    /// The error for a log.
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
        case .locked: "the files or the key of the queue are not available"
        case .restored: "the queue was copied and not adopted"
        case .storage(let error): "the queue can't be stored: \(error)"
        }
    }
}

extension QueueError: APIErrorConvertible {
    /// The error for a call that could neither be sent nor stored, with a text for the user.
    public func apiError(context: String?) -> APIError {
        if case .invalidRequest(let error) = self { return error }
        var error = APIError(.custom, context: context, underlying: self)
        error.attempts = 0
        switch self {
        case .full: (error.code, error.presentationText) = (ErrorCode("OFFLINE_QUEUE_FULL"), Self.fullText)
        case .noIdentity: (error.code, error.recovery) = (.authTokenMissing, .signIn)
        case .locked, .restored, .storage:
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
