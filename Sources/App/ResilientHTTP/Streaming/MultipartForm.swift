public import Foundation

/// A form with files: `multipart/form-data` (RFC 7578). The form escapes names as browsers do (WHATWG HTML §4.10.21.8).
///
/// The transport reads files while it sends the form, so large files don't need more memory. The request has a `Content-Length`, unless the
/// size of a file can't be read. A form can be sent several times, so the client can retry an upload of a form.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("Ana", name: "name")
/// form.append(file: url, name: "photo", contentType: "image/jpeg")
/// let value: Profile = try await api.upload(.post, "/profile", form.body)
/// ```
///
/// A form is a value type, so appending a part to a copy doesn't change the original. The parts are sent in the order in which you append
/// them.
public struct MultipartForm: Sendable {
    /// The content of a part.
    private enum Content: Sendable {
        case bytes([UInt8])
        case file(URL)
    }

    /// A part of the form. `head` contains the delimiter before the part and the headers of the part.
    private struct Part: Sendable {
        var head: [UInt8]
        var content: Content
    }

    private let boundary: String
    private var parts: [Part] = []

    /// Creates an empty form.
    /// - Parameter boundary: The separator of the parts: 1 to 70 letters, digits and hyphens. It must not occur in any part. The default
    ///   has 128 random bits.
    public init(boundary: String = "holdfast-" + IdempotencyKeyMiddleware.randomKey()) {
        self.boundary = boundary
    }

    /// Appends a text field. The method converts line ends in the name and the value to CRLF.
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name of the field. Several parts may have the same name.
    public mutating func append(_ value: String, name: String) {
        append(Array(Self.normalized(value).utf8), disposition: Self.disposition(name), contentType: nil)
    }

    /// Appends bytes in memory as a file.
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - name: The name of the field.
    ///   - filename: The name of the file, without a path.
    ///   - contentType: The value of the part's `Content-Type`.
    public mutating func append(
        _ bytes: [UInt8],
        name: String,
        filename: String,
        contentType: String = "application/octet-stream"
    ) {
        append(bytes, disposition: Self.disposition(name, filename: filename), contentType: contentType)
    }

    /// Appends a file. The transport reads the file while it sends the form, so the file must not change before the call has ended.
    /// - Parameters:
    ///   - file: The file.
    ///   - name: The name of the field.
    ///   - filename: The name that the server receives; `nil` for the file's name.
    ///   - contentType: The value of the part's `Content-Type`.
    public mutating func append(
        file: URL,
        name: String,
        filename: String? = nil,
        contentType: String = "application/octet-stream"
    ) {
        let disposition = Self.disposition(name, filename: filename ?? file.lastPathComponent)
        parts.append(Part(head: head(disposition, contentType: contentType), content: .file(file)))
    }

    /// The form as the body of a request. The body is a stream. The length of the stream is unknown if the size of a file can't be read.
    public var body: RequestBody {
        let (parts, end) = (parts, Array("--\(boundary)--\r\n".utf8))
        var length: Int64? = Int64(end.count)
        for part in parts {
            let size: Int64? =
                switch part.content {
                case .bytes(let bytes): Int64(bytes.count)
                case .file(let url): FileChunks.length(of: url)
                }
            length = length.flatMap { sum in size.map { sum + Int64(part.head.count) + $0 + 2 } }
        }
        let write: RequestBody.Writer = { write in
            // Combine small parts into one chunk.
            var chunk: [UInt8] = []
            for part in parts {
                chunk += part.head
                switch part.content {
                case .bytes(let bytes): chunk += bytes
                case .file(let url):
                    let file = try FileChunks(url)
                    while let next = try await file.next() {
                        if !chunk.isEmpty { try await write(chunk) }
                        chunk = next
                    }
                }
                chunk += Array("\r\n".utf8)
                if chunk.count >= RequestBody.chunkSize {
                    try await write(chunk)
                    chunk = []
                }
            }
            try await write(chunk + end)
        }
        return RequestBody(.stream(length: length, write: write), contentType: "multipart/form-data; boundary=\(boundary)")
    }

    /// Appends a part in memory.
    private mutating func append(_ bytes: [UInt8], disposition: String, contentType: String?) {
        parts.append(Part(head: head(disposition, contentType: contentType), content: .bytes(bytes)))
    }

    /// Returns the delimiter before a part and the headers of the part. The method removes line ends from the content type.
    private func head(_ disposition: String, contentType: String?) -> [UInt8] {
        let type = contentType.map { "Content-Type: \($0.filter { !$0.isNewline })\r\n" } ?? ""
        return Array("--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\n\(type)\r\n".utf8)
    }

    /// Returns the parameters of the header `Content-Disposition` of a part: the name of the field and, for a file, the name of the file.
    private static func disposition(_ name: String, filename: String? = nil) -> String {
        let field = "name=\"\(escaped(normalized(name)))\""
        return filename.map { "\(field); filename=\"\(escaped($0))\"" } ?? field
    }

    /// Escapes CR, LF and quotation marks with percent signs, as in browsers.
    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            case "\"": text += "%22"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns the text with CRLF as its line ends.
    private static func normalized(_ text: String) -> String {
        var (result, isAfterReturn) = (String.UnicodeScalarView(), false)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where isAfterReturn: isAfterReturn = false
            case "\r", "\n":
                result.append(contentsOf: "\r\n".unicodeScalars)
                isAfterReturn = scalar == "\r"
            default:
                result.append(scalar)
                isAfterReturn = false
            }
        }
        return String(result)
    }
}
