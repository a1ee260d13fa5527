import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP

/// The stored form of dead letters.
extension OfflineQueue {
    /// The response headers that the queue stores with a dead letter. The queue decodes the error of the dead letter from these headers.
    private static let keptHeaders: [HTTPField.Name] = [
        .contentType, .contentLanguage, .errorCode, .requestID, .retryAfter, .wwwAuthenticate,
    ]
    /// The maximum size in bytes of a response body that the queue stores with a dead letter.
    private static let longestRefusal = 16_384

    /// Creates the description of a dead letter from the error of its last call. The queue stores the body of the response if it has at
    /// most ``longestRefusal`` bytes. The queue encrypts the body like the request. If the encryption fails, the queue doesn't store the
    /// body.
    func burial(_ reason: Burial.Reason, _ error: APIError?, of id: QueuedRequestID, _ owner: QueueOwner) -> Burial {
        var burial = Burial(reason: reason, time: now)
        guard let error else { return burial }
        burial.code = error.code.rawValue
        guard let status = error.status else { return burial }
        burial.status = UInt16(clamping: status)
        for name in Self.keptHeaders {
            if let value = error.headers[name] { burial.headers += [name.rawName, value] }
        }
        if error.body.count <= Self.longestRefusal, let body = try? seal(error.body, of: id, owner) { burial.body = body }
        return burial
    }

    /// Decodes a dead letter. The error is decoded from the stored response like the error of any other call. The error therefore has the
    /// client's present languages and coding.
    func letter(_ burial: Burial, of id: QueuedRequestID, _ owner: QueueOwner) -> DeadLetter {
        let date = Date(milliseconds: burial.time.wall)
        var letter = DeadLetter(reason: DeadLetter.Reason(burial.reason), date: date, error: nil)
        guard burial.reason != .expired else { return letter }
        guard burial.status > 0 else {
            letter.error = client.localized(APIError(burial.reason == .unknownOutcome ? .unknownOutcome : .invalidRequest))
            return letter
        }
        var headers: HTTPFields = [:]
        for index in stride(from: 0, to: burial.headers.count - 1, by: 2) {
            if let name = HTTPField.Name(burial.headers[index]) { headers[name] = burial.headers[index + 1] }
        }
        let body = (try? open(burial.body, of: id, owner)) ?? []
        // If the body of a refusal was not stored, a header with the error code replaces it.
        if body.isEmpty, headers[.errorCode] == nil { headers[.errorCode] = burial.code }
        let decoded = ErrorDecoder().decode(status: Int(burial.status), headers: headers, body: body, now: date)
        var error = client.localized(APIError(decoded, catalogue: client.catalogue))
        (error.headers, error.body) = (headers, body)
        error.makeBodyDecoder = client.coding.makeDecoder
        letter.error = error
        return letter
    }
}
