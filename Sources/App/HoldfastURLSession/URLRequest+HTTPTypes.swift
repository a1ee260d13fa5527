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
        // The transport limits the duration itself, see `URLSessionExchanges.add(_:deadline:idleTimeout:body:endBody:)`. Therefore, the
        // timeout of the session must never be reached. On Linux, this timeout would crash the process while the session waits for the
        // decision about a redirect.
        timeoutInterval = 7 * 86_400
        allHTTPHeaderFields = request.headerFields.byName
        guard let body else { return }
        if case .bytes(let bytes) = body.content { httpBody = Data(bytes) } else { try stream(body, streamed) }
    }

    /// Sets a body that the session reads while it sends the body.
    ///
    /// Without a `Content-Length`, `URLSession` sends every stream with chunked encoding. On Linux, `URLSession` would use this encoding
    /// even with a `Content-Length`. An empty `Transfer-Encoding` prevents this encoding, because libcurl omits an empty header.
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
                // The task of the session reads the file itself.
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
    /// The values by name. If a name has several values, the property joins them with commas (RFC 9110 §5.3). It joins the values of
    /// `Cookie` with semicolons.
    ///
    /// Setting all fields at once is faster than adding them one by one, because Foundation on Linux validates each added field.
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
    /// Creates the head of a response of `URLSession`. Omits header fields with invalid names. A response that isn't HTTP gets the status
    /// 0.
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
    /// Returns the error for a body that could not be read before the session sent any byte.
    fileprivate static func unreadable(_ cause: any Error) -> TransportError {
        TransportError(.invalidRequest, message: "the body can't be read", wasSent: false, cause: cause)
    }

    /// Creates the transport error for an error of `URLSession`.
    ///
    /// A client repeats a request that was not sent, even if the request is not idempotent. Therefore, `wasSent` is `false` only for errors
    /// that occur before a connection is established. If the initializer doesn't know the meaning of an error, `wasSent` is `true`.
    ///
    /// - Parameters:
    ///   - error: The session's error. The initializer copies a `TransportError` unchanged.
    ///   - isReceiving: Whether the head of a response has been received. With `true`, the initializer treats unknown errors as a lost
    ///     connection.
    init(urlSession error: any Error, isReceiving: Bool = false) {
        if let error = error as? TransportError {
            self = error
            return
        }
        // The set doesn't include `unsupportedURL`. The transport validates the address before, and on Linux a response that is not HTTP
        // has this code. The set also doesn't include refusals of the client's certificate, because the server can send them later.
        let neverLeft: Set<URLError.Code> = [
            .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet, .dataNotAllowed,
            .internationalRoamingOff, .callIsActive, .badURL, .appTransportSecurityRequiresSecureConnection,
            .secureConnectionFailed, .serverCertificateUntrusted,
            .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
        ]
        let urlError = error as? URLError
        if !isReceiving, let urlError, urlError.isUntrustedOnLinux {
            self.init(.untrusted, message: "URLSession error \(urlError.errorCode)", wasSent: false, cause: error)
            return
        }
        let code: Code =
            switch urlError?.code {
            case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: .noInternet
            case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .secureConnectionFailed: .unreachable
            case .networkConnectionLost, .badServerResponse: .connectionLost
            case .timedOut: .timeout
            case .cancelled: .cancelled
            case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired:
                .untrusted
            // App Transport Security refuses an address with http before a connection is opened.
            case .badURL, .appTransportSecurityRequiresSecureConnection: .invalidRequest
            default: error is CancellationError ? .cancelled : isReceiving ? .connectionLost : .other
            }
        let wasSent = isReceiving || urlError.map { !neverLeft.contains($0.code) } ?? true
        self.init(code, message: "URLSession error \(urlError?.errorCode ?? 0)", wasSent: wasSent, cause: error)
    }
}

extension URLError {
    /// Whether libcurl refused the server's certificate. On Linux, Foundation has no code for this refusal, so this property searches the
    /// text of libcurl. The refusal happens in the handshake, before libcurl sends any byte of the request.
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
    /// The stream of a request's body for `URLSession` on Linux. The session reads this stream on its own queue, which may block. The
    /// session reads `httpBodyStream` in parts of 64 KiB while it sends. The alternative, `uploadTask(with:fromFile:)`, takes ten times as
    /// long.
    final class BodyInputStream: InputStream {
        /// Returns the next chunk of the body.
        private let next: () throws -> [UInt8]?
        /// The number of bytes that the session must still read; `nil` if the length is unknown.
        private var missing: Int64?
        /// The bytes of the last chunk that the session has not read yet.
        private var chunk: ArraySlice<UInt8> = []
        private var status = Stream.Status.notOpen

        /// Creates a stream. The stream reads no bytes before the session requests them.
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
        /// - Returns: The number of bytes; 0 at the end; -1 if the body can't be read, or if its length differs from the announced length.
        ///   With -1, the session ends the request with an error.
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
