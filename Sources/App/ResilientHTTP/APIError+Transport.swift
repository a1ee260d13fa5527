public import ErrorContract

extension APIError {
    /// The error for a transport's.
    /// - Parameters:
    ///   - error: What the transport said.
    ///   - isSafeToRepeat: Whether the request may be sent again without harm. If not, and a byte of it may have left,
    ///     nobody knows whether it took effect.
    ///   - context: Where in the app it happened.
    public init(_ error: TransportError, isSafeToRepeat: Bool, context: String? = nil) {
        let kind: Kind =
            switch error.code {
            case .noInternet: .noInternet
            case .timeout: .timeout
            case .cancelled: .cancelled
            case .invalidRequest: .invalidRequest
            default: .network
            }
        let isUnknown = error.wasSent && !isSafeToRepeat && (kind == .network || kind == .timeout)
        self.init(isUnknown ? .unknownOutcome : kind, context: context, underlying: error)
        // The same certificate will not be trusted a moment later; on another network it may.
        if error.code == .untrusted { retry = .never }
    }

    /// The error for whatever a call threw.
    init(_ error: any Error, isSafeToRepeat: Bool, context: String?) {
        if let error = error as? TransportError {
            self.init(error, isSafeToRepeat: isSafeToRepeat, context: context)
        } else {
            self.init(error, context: context)
        }
    }
}

extension TransportError: APIErrorConvertible {
    /// The error as an app sees it that asked nothing of its own to be repeated: what was lost, not what became of it.
    public func apiError(context: String?) -> APIError {
        APIError(self, isSafeToRepeat: true, context: context)
    }
}
