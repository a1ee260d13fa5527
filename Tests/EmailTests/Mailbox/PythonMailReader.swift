import Foundation
import TestSupport
import Testing

/// An email as parsed by Python's `email` package, which is independent of this library.
struct PythonMail: Decodable {
    struct Part: Decodable {
        let type: String
        let charset: String
        let encoding: String
        let body: String
    }

    let defects: [String]
    let names: [String]
    let subject: String
    let senderNames: [String]
    let senderAddresses: [String]
    let to: String
    let date: String
    let type: String
    let parts: [Part]

    private static let script = """
        import sys, json, email, email.policy, base64

        def read(data):
            message = email.message_from_bytes(data, policy=email.policy.default)
            parts = list(message.iter_parts())
            defects = [repr(d) for p in [message, *parts] for d in p.defects]
            defects += [repr(d) for name in message.keys() for d in message[name].defects]
            return {
                "defects": defects, "names": message.keys(), "subject": message["Subject"], "to": message["To"],
                "senderNames": [a.display_name for a in message["From"].addresses],
                "senderAddresses": [a.addr_spec for a in message["From"].addresses],
                "date": message["Date"].datetime.isoformat(), "type": message.get_content_type(),
                "parts": [{
                    "type": p.get_content_type(), "charset": p.get_content_charset(),
                    "encoding": p["Content-Transfer-Encoding"], "body": p.get_payload(decode=True).decode("utf-8"),
                } for p in parts],
            }

        json.dump([read(base64.b64decode(line)) for line in sys.stdin], sys.stdout)
        """

    /// Parses one message in a separate process.
    static func read(_ message: Data) async throws -> PythonMail {
        try #require(try await read([message]).first)
    }

    /// Parses messages in a separate process.
    static func read(_ messages: [Data]) async throws -> [PythonMail] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script]
        let lines = messages.map { $0.base64EncodedString() }.joined(separator: "\n")
        let result = try await process.result(input: Data(lines.utf8))
        try #require(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode([PythonMail].self, from: Data(result.output.utf8))
    }
}
