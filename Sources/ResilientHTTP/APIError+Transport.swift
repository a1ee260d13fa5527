public import ErrorContract

extension APIError {
    /// The error for a transport's.
    /// - Parameters:
    ///   - error: What the transport said.
    ///   - isSafeToRepeat: Whether the request may be sent again without harm. If not, and a byte of it may have left,
    ///     nobody knows whether it took effect.
    ///   - context: Where in the app it happened.
    public init(_ error: TransportError, isSafeToRepeat: Bool, context: String? = nil) {
        let (kind, code): (Kind, ErrorCode) =
            switch error.code {
            case .noInternet: (.noInternet, .noInternet)
            case .timeout: (.timeout, .timeout)
            case .cancelled: (.cancelled, .cancelled)
            case .invalidRequest: (.invalidRequest, .invalidRequest)
            default: (.network, .networkError)
            }
        let isUnknown = error.wasSent && !isSafeToRepeat && [.network, .timeout].contains(kind)
        let isTransient = [.network, .noInternet, .timeout].contains(kind)
        self.init(
            kind: isUnknown ? .unknownOutcome : kind,
            code: isUnknown ? .unknownOutcome : code,
            retry: isTransient && !isUnknown ? .withBackoff : .never,
            recovery: isTransient ? .retry : .dismiss,
            context: context,
            underlying: error
        )
    }

    /// The error for whatever a call threw.
    init(_ error: any Error, isSafeToRepeat: Bool, context: String?) {
        switch error {
        case let error as APIError: self = error
        case let error as TransportError: self.init(error, isSafeToRepeat: isSafeToRepeat, context: context)
        case is CancellationError: self.init(kind: .cancelled, code: .cancelled, context: context, underlying: error)
        default: self.init(kind: .custom, code: .unknown, context: context, underlying: error)
        }
    }
}
