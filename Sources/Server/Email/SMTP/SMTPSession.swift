import CLibCurl
import Foundation

/// A libcurl handle with its connection, which stays open between emails. Only the thread that created a session may use it. Each call
/// blocks this thread.
///
/// The session doesn't use libcurl's event loop (`curl_multi`), for two reasons. First, the event loop also blocks until the reply to DATA
/// arrives, so one slow server would delay all emails. Second, if a program removes a transfer from the event loop, libcurl ends the
/// message although a part of it is missing, and the server delivers this incomplete message.
final class SMTPSession {
    private let handle: UnsafeMutableRawPointer
    private let settings: SMTPSettings
    private var recipients: UnsafeMutablePointer<curl_slist>?
    private var mail = InFlightMail()

    /// The email that the callbacks of libcurl read, and the conversation that they record. The callbacks run on the thread of the session,
    /// while a method of the session blocks.
    fileprivate struct InFlightMail {
        var message: [UInt8] = []
        var offset = 0
        var conversation = SMTPConversation()
        var isCancelled: () -> Bool = { false }
    }

    /// Creates a session without connecting.
    /// - Parameter settings: The SMTP server.
    /// - Returns: `nil` if libcurl can't be initialized or has no memory.
    init?(settings: SMTPSettings) {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let handle = curl_easy_init() else { return nil }
        self.handle = handle
        self.settings = settings
    }

    deinit {
        // Sends QUIT.
        curl_easy_cleanup(handle)
        curl_slist_free_all(recipients)
    }

    /// Sends an email, and blocks until the server has accepted it or the delivery has failed. If the connection of the previous email is
    /// still open, the session reuses it.
    ///
    /// libcurl calls `isCancelled` about once a second. If the closure returns `true`, libcurl closes the connection. The server doesn't
    /// deliver an incomplete email.
    /// - Parameter envelope: The email.
    /// - Returns: Success if the server accepted the email with 250.
    func send(_ envelope: SMTPEnvelope, isCancelled: @escaping () -> Bool) -> Result<Void, SMTPFailure> {
        mail = InFlightMail(message: envelope.message, isCancelled: isCancelled)
        // A reset of the handle keeps its connections open.
        curl_easy_reset(handle)
        curl_slist_free_all(recipients)
        recipients = curl_slist_append(nil, envelope.recipient)
        var result = configure(envelope)
        if result == CURLE_OK { result = curl_easy_perform(handle) }
        return result == CURLE_OK ? .success(()) : .failure(SMTPFailure(result: result, conversation: mail.conversation))
    }

    /// Connects, negotiates TLS and authenticates, without sending an email.
    /// - Parameter envelope: An envelope. The session sends the domain of its sender in EHLO.
    func probe(_ envelope: SMTPEnvelope) -> Result<Void, SMTPFailure> {
        mail = InFlightMail()
        curl_easy_reset(handle)
        var result = configure(envelope)
        if result == CURLE_OK { result = curl_set_number(handle, CURLOPT_UPLOAD, 0) }
        if result == CURLE_OK { result = curl_set_number(handle, CURLOPT_CONNECT_ONLY, 1) }
        if result == CURLE_OK { result = curl_easy_perform(handle) }
        return result == CURLE_OK ? .success(()) : .failure(SMTPFailure(result: result, conversation: mail.conversation))
    }

    /// Sets all options of the handle for one email.
    /// - Returns: The first error; `CURLE_OK` if there is none.
    private func configure(_ envelope: SMTPEnvelope) -> CURLcode {
        let encryption = settings.security == .startTLS ? CURLUSESSL_ALL : CURLUSESSL_NONE
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_USE_SSL, Int(encryption.rawValue)), (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_CONNECTTIMEOUT_MS, settings.connectTimeout.milliseconds),
            (CURLOPT_TIMEOUT_MS, settings.timeout.milliseconds),
            (CURLOPT_SERVER_RESPONSE_TIMEOUT, max(1, settings.timeout.milliseconds / 1_000)),
            (CURLOPT_MAXAGE_CONN, max(1, settings.idleTime.milliseconds / 1_000)),
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_UPLOAD, 1), (CURLOPT_INFILESIZE, envelope.message.count),
            (CURLOPT_VERBOSE, 1), (CURLOPT_NOPROGRESS, 0),
        ]
        let context = Unmanaged.passUnretained(self).toOpaque()
        var codes = texts(for: envelope).map { curl_set_text(handle, $0.0, $0.1) }
        codes += numbers.map { curl_set_number(handle, $0.0, $0.1) }
        codes += [CURLOPT_READDATA, CURLOPT_DEBUGDATA, CURLOPT_XFERINFODATA].map { curl_set_pointer(handle, $0, context) }
        codes.append(curl_set_list(handle, CURLOPT_MAIL_RCPT, recipients))
        return (codes + setCallbacks()).first { $0 != CURLE_OK } ?? CURLE_OK
    }

    private func texts(for envelope: SMTPEnvelope) -> [(CURLoption, String)] {
        let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
        let scheme = settings.security == .tls ? "smtps" : "smtp"
        // libcurl sends the path of the URL in EHLO. Use the sender's domain as the path, so that EHLO doesn't disclose the name of the
        // machine.
        let name = envelope.sender.split(separator: "@").last.map(String.init) ?? "localhost"
        var texts: [(CURLoption, String)] = [
            (CURLOPT_URL, "\(scheme)://\(host):\(settings.port)/\(name)"), (CURLOPT_PROTOCOLS_STR, "smtp,smtps"),
            // An empty value prevents the environment from setting a proxy.
            (CURLOPT_PROXY, ""), (CURLOPT_MAIL_FROM, envelope.sender),
        ]
        if let authorities = settings.authorities { texts.append((CURLOPT_CAINFO, authorities)) }
        if let credentials = settings.credentials {
            texts += [
                (CURLOPT_USERNAME, credentials.user), (CURLOPT_PASSWORD, credentials.password),
                (CURLOPT_LOGIN_OPTIONS, "AUTH=PLAIN;AUTH=LOGIN"),
            ]
        }
        return texts
    }

    private func setCallbacks() -> [CURLcode] {
        [
            curl_set_writer(handle) { _, size, count, _ in size * count },
            curl_set_reader(handle) { buffer, size, count, context in
                guard let buffer, let session = SMTPSession.of(context) else { return 0 }
                return session.mail.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
            },
            curl_set_progress(handle) { context, _, _, _, _ in SMTPSession.of(context)?.mail.isCancelled() == true ? 1 : 0 },
            curl_set_debugger(handle) { _, kind, data, size, context in
                guard let data, let session = SMTPSession.of(context) else { return 0 }
                // The first 32 bytes contain the verb of a command or the codes of a reply. Don't read the rest, because it may be private.
                let line = String(decoding: UnsafeRawBufferPointer(start: data, count: min(size, 32)), as: UTF8.self)
                if kind == CURLINFO_HEADER_OUT { session.mail.conversation.said(line) }
                if kind == CURLINFO_HEADER_IN { session.mail.conversation.heard(line) }
                return 0
            },
        ]
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> SMTPSession? {
        context.map { Unmanaged<SMTPSession>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension SMTPSession.InFlightMail {
    /// Copies the next bytes of the message to libcurl's buffer.
    /// - Returns: The number of copied bytes; 0 at the end of the message.
    fileprivate mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let rest = message[offset...].prefix(buffer.count)
        buffer.copyBytes(from: rest)
        offset += rest.count
        if offset == message.count { conversation.isSent = true }
        return rest.count
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up. The minimum is 1, because libcurl reads 0 as "no limit". The maximum is a day, because
    /// libcurl refuses a time of more than 24 days.
    fileprivate var milliseconds: Int { max(1, Int((min(self, .seconds(86_400)) / .milliseconds(1)).rounded(.up))) }
}
