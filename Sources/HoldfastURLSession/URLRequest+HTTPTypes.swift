import Foundation
import HTTPTypes
import ResilientHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    init(_ request: HTTPRequest, body: RequestBody?, timeout: Duration) throws(TransportError) {
        let text = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")"
        guard let url = URL(string: text), url.host?.isEmpty == false else {
            throw TransportError(.invalidRequest, message: "the request has no valid address", wasSent: false)
        }
        self.init(url: url)
        httpMethod = request.method.rawValue
        timeoutInterval = max(0.001, timeout / .seconds(1))
        for field in request.headerFields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        if let body { httpBody = Data(body.bytes) }
    }
}

extension HTTPResponse {
    init(urlResponse: URLResponse) {
        let response = urlResponse as? HTTPURLResponse
        self.init(status: .init(code: response?.statusCode ?? 0))
        for (name, value) in response?.allHeaderFields ?? [:] {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}

extension TransportError {
    /// The transport error for what `URLSession` said.
    init(urlSession error: any Error) {
        if let error = error as? TransportError {
            self = error
            return
        }
        let neverLeft: Set<URLError.Code> = [
            .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet, .badURL, .unsupportedURL,
            .secureConnectionFailed, .serverCertificateUntrusted,
        ]
        let urlError = error as? URLError
        let code: Code =
            switch urlError?.code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: .noInternet
            case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed: .unreachable
            case .networkConnectionLost, .badServerResponse: .connectionLost
            case .timedOut: .timeout
            case .cancelled: .cancelled
            case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate: .untrusted
            case .badURL, .unsupportedURL: .invalidRequest
            default: error is CancellationError ? .cancelled : .other
            }
        let wasSent = urlError.map { !neverLeft.contains($0.code) } ?? true
        self.init(code, message: "URLSession error \(urlError?.errorCode ?? 0)", wasSent: wasSent, cause: error)
    }
}
