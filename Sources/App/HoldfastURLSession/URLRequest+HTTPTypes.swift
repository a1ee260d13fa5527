import Foundation
import HTTPTypes
import ResilientHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    #if canImport(FoundationNetworking)
        /// The bytes of a body that is a stream.
        typealias StreamedBody = TemporaryFile
    #else
        typealias StreamedBody = UploadPipe
    #endif

    /// Creates the request of an attempt.
    /// - Parameters:
    ///   - request: The request without its body. Its scheme is `http` or `https`, and it has an authority.
    ///   - body: The body, if there is one.
    ///   - streamed: The bytes of a body that is a stream; `nil` for any other body.
    /// - Throws: `TransportError` with the code `invalidRequest` if the address is not HTTP, or if the file of the body can't be read. Its
    ///   `wasSent` is `false`.
    init(_ request: HTTPRequest, body: RequestBody?, streamed: StreamedBody?) throws(TransportError) {
        let text = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")"
        guard let scheme = request.scheme?.lowercased(), scheme == "https" || scheme == "http", let url = URL(string: text),
            url.host?.isEmpty == false
        else {
            throw TransportError(.invalidRequest, message: "the request has no valid address", wasSent: false)
        }
        self.init(url: url)
        httpMethod = request.method.rawValue
        // The transport itself ends the exchange, see `URLSessionExchanges.add(_:deadline:)`. The session's own timeout must therefore not
        // fire. On Linux, this timeout would crash the process while the session waits for the decision about a redirect.
        timeoutInterval = 7 * 86_400
        allHTTPHeaderFields = request.headerFields.byName
        guard let body else { return }
        if case .bytes(let bytes) = body.content { httpBody = Data(bytes) } else { try stream(body, streamed) }
    }

    /// Sets a body that is read while it is sent.
    ///
    /// Without a `Content-Length`, `URLSession` sends every stream with chunked encoding. On Linux, `URLSession` would use this encoding
    /// even with a `Content-Length`. A blank `Transfer-Encoding` prevents this, because libcurl omits a blank header.
    private mutating func stream(_ body: RequestBody, _ streamed: StreamedBody?) throws(TransportError) {
        let length = body.length
        if let length { allHTTPHeaderFields?["Content-Length"] = String(length) }
        #if canImport(FoundationNetworking)
            if length != nil { allHTTPHeaderFields?["Transfer-Encoding"] = " " }
            if case .file(let url) = body.content {
                let file: FileChunks
                do { file = try FileChunks(url) } catch { throw .unreadable(error) }
                httpBodyStream = BodyInputStream(length: length) { try file.read() }
            } else if let streamed {
                httpBodyStream = BodyInputStream(length: length, next: streamed.read)
            }
        #else
            if case .file = body.content {
                // The task reads the file itself.
                guard length != nil else { throw .unreadable(CocoaError(.fileNoSuchFile)) }
            } else {
                httpBodyStream = streamed?.input
            }
        #endif
    }
}

extension HTTPRequest {
    /// The priority of the task for the request, derived from the urgency in its `Priority` header (RFC 9218 §4.1). An urgency of 0 to 2 is
    /// a high priority, 3 is the default, and 4 to 7 is a low priority.
    var taskPriority: Float {
        guard let value = headerFields[.priority], value.hasPrefix("u="), let urgency = value.dropFirst(2).first?.wholeNumberValue
        else { return URLSessionTask.defaultPriority }
        return urgency < 3
            ? URLSessionTask.highPriority : urgency > 3 ? URLSessionTask.lowPriority : URLSessionTask.defaultPriority
    }
}

extension HTTPFields {
    /// The values by name. If a name has several values, the values are joined, as RFC 9110 §5.3 allows.
    ///
    /// Setting all fields at once is faster than adding them one by one, because Foundation on Linux validates each added
    /// field.
    fileprivate var byName: [String: String] {
        var values: [String: String] = [:]
        values.reserveCapacity(count)
        for (position, field) in enumerated() {
            guard let earlier = prefix(position).first(where: { $0.name == field.name }) else {
                values[field.name.rawName] = field.value
                continue
            }
            values[earlier.name.rawName, default: ""] += (field.name == .cookie ? "; " : ", ") + field.value
        }
        return values
    }
}

extension HTTPResponse {
    /// Creates the head of a response of `URLSession`. Header fields with invalid names are omitted. A response that isn't HTTP has the
    /// status 0.
    init(urlResponse: URLResponse) {
        let response = urlResponse as? HTTPURLResponse
        // `Status` traps for a number with more than three digits.
        self.init(status: .init(code: min(max(response?.statusCode ?? 0, 0), 999)))
        let fields = response?.allHeaderFields ?? [:]
        headerFields.reserveCapacity(fields.count)
        for (name, value) in fields {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}

extension TransportError {
    /// Returns the error for a body that can't be read, before any byte was sent.
    fileprivate static func unreadable(_ cause: any Error) -> TransportError {
        TransportError(.invalidRequest, message: "the body can't be read", wasSent: false, cause: cause)
    }

    /// Creates the transport error for an error of `URLSession`.
    ///
    /// A client repeats a request that was not sent, even if it is not idempotent. Therefore `wasSent` is only `false` for errors that
    /// occur before a connection has been established. For errors without a known meaning, `wasSent` is `true`.
    ///
    /// - Parameters:
    ///   - error: The session's error. A `TransportError` is returned unchanged.
    ///   - isReceiving: Whether the head of a response has been received. If `true`, unknown errors mean that the connection was lost.
    init(urlSession error: any Error, isReceiving: Bool = false) {
        if let error = error as? TransportError {
            self = error
            return
        }
        // `unsupportedURL` is not included. The address is validated before, and on Linux a response that is not HTTP has this code.
        let neverLeft: Set<URLError.Code> = [
            .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet, .badURL,
            .secureConnectionFailed, .serverCertificateUntrusted,
        ]
        let urlError = error as? URLError
        if !isReceiving, let urlError, urlError.isUntrustedOnLinux {
            self.init(.untrusted, message: "URLSession error \(urlError.errorCode)", wasSent: false, cause: error)
            return
        }
        let code: Code =
            switch urlError?.code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff: .noInternet
            case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .secureConnectionFailed: .unreachable
            case .networkConnectionLost, .badServerResponse: .connectionLost
            case .timedOut: .timeout
            case .cancelled: .cancelled
            case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired:
                .untrusted
            case .badURL: .invalidRequest
            default: error is CancellationError ? .cancelled : isReceiving ? .connectionLost : .other
            }
        let wasSent = isReceiving || urlError.map { !neverLeft.contains($0.code) } ?? true
        self.init(code, message: "URLSession error \(urlError?.errorCode ?? 0)", wasSent: wasSent, cause: error)
    }
}

extension URLError {
    /// Whether libcurl refused the server's certificate. On Linux, Foundation has no code for this refusal, so the text of libcurl is
    /// searched. The refusal happens in the handshake, before any byte of the request.
    fileprivate var isUntrustedOnLinux: Bool {
        #if canImport(FoundationNetworking)
            let words = localizedDescription
            return code == .unknown && words.hasPrefix("SSL") && words.contains("certificate")
        #else
            return false
        #endif
    }
}

#if canImport(FoundationNetworking)
    /// A body that `URLSession` on Linux reads on the queue of its session, which may block. The session reads `httpBodyStream` in parts of
    /// 64 KiB while it sends. The alternative, `uploadTask(with:fromFile:)`, takes ten times as long.
    final class BodyInputStream: InputStream {
        /// Returns the next chunk of the body.
        private let next: () throws -> [UInt8]?
        /// The number of bytes that must still be read; `nil` if the length is unknown.
        private var missing: Int64?
        /// The bytes of the last chunk that were not copied yet.
        private var chunk: ArraySlice<UInt8> = []
        private var status = Stream.Status.notOpen

        /// Creates a stream. The stream reads nothing before the session reads.
        /// - Parameters:
        ///   - length: The number of bytes; `nil` if it is unknown.
        ///   - next: Returns the next chunk, or `nil` at the end.
        init(length: Int64?, next: @escaping () throws -> [UInt8]?) {
            (missing, self.next) = (length, next)
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { status }
        /// Always `true`. The session detects the end by a read of 0 bytes.
        override var hasBytesAvailable: Bool { true }
        override func open() { status = .open }
        override func close() { status = .closed }

        /// Copies the next bytes of the body into a buffer.
        /// - Returns: The number of bytes; 0 at the end; -1 if the body can't be read or has another length than announced. The session
        ///   then ends the exchange.
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            do {
                if chunk.isEmpty { chunk = try next()?[...] ?? [] }
            } catch {
                return -1
            }
            let count = min(maxLength, chunk.count)
            if let missing {
                // The file has changed. The server must not treat the body as complete.
                guard count > 0 ? Int64(count) <= missing : missing == 0 else { return -1 }
                self.missing = missing - Int64(count)
            }
            chunk.prefix(count).withUnsafeBufferPointer { bytes in
                if let source = bytes.baseAddress { buffer.update(from: source, count: count) }
            }
            chunk = chunk.dropFirst(count)
            return count
        }
    }
#endif
