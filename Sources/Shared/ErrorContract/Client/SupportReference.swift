public import Foundation

/// Identifies a failed request for the support team by its code, request id and time. The reference contains no data of the user.
///
/// Show ``text(in:catalogue:)`` below the message of an error that asks the user to contact support, and let the user copy ``description``:
///
/// ```swift
/// if let reference = presentation.supportReference {
///     Text(reference.text(in: language))
///     Button("Copy") { UIPasteboard.general.string = reference.description }
/// }
/// ```
public struct SupportReference: Hashable, Sendable {
    /// The code of the error.
    public let code: ErrorCode
    /// The id of the request in the server's log, if the server sent one.
    public let requestID: String?
    /// The time of the error, by the server's clock if the server sent the time, otherwise by the device's clock.
    public let time: Date

    /// Creates a reference.
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - requestID: The id of the request in the server's log; `nil` if the server sent none.
    ///   - time: The time of the error.
    public init(code: ErrorCode, requestID: String?, time: Date) {
        (self.code, self.requestID, self.time) = (code, requestID, time)
    }

    /// Returns the reference with its label, such as `Support reference: AUTH_USER_SUSPENDED · r9 · 2025-11-04T10:30:00Z`.
    /// - Parameters:
    ///   - language: The language of the text.
    ///   - catalogue: The catalogue with the app's own translations of the label.
    public func text(in language: Language, catalogue: ErrorCatalogue = .standard) -> String {
        catalogue.text(ContractText.supportReferenceLine.filling("reference", with: description), in: language)
    }
}

extension SupportReference: CustomStringConvertible {
    /// The code, the request id and the time in UTC, in the same format for every language. This is the text that the user copies.
    public var description: String {
        [code.rawValue, requestID, time.formatted(.iso8601)].compactMap(\.self).joined(separator: " · ")
    }
}

extension APIError {
    /// Returns the reference with which the support team finds the failed request.
    ///
    /// - Parameter now: The wall clock, used if the server did not send the time of the error.
    public func supportReference(now: Date) -> SupportReference {
        SupportReference(code: code, requestID: requestID, time: serverTimestamp ?? now)
    }
}
