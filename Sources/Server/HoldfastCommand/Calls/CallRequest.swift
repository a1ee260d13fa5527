import ArgumentParser
import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP
import StrictJSON

/// The request of `holdfast call`, validated before anything is sent.
struct CallRequest {
    /// Scheme, host and port.
    let base: URL
    /// Path and query, percent-encoded.
    let path: String
    /// One of the seven methods that `--help` lists.
    let method: HTTPRequest.Method
    /// The headers from the options, including the headers with the idempotency key and the access token.
    let headers: HTTPFields
    /// The body; `nil` if the option is missing.
    let body: RequestBody?
    /// The access token, without `Bearer`.
    let token: String?
    /// The idempotency key, without quotes.
    let key: String?

    /// Validates the options of a call, and reads the body from its file. The initializer sends nothing.
    /// - Parameters:
    ///   - method: The method, in uppercase or lowercase letters.
    ///   - url: The address with `http` or `https`, without a user.
    ///   - lines: The headers, as `Name: value`.
    ///   - data: The body, or `@` and the path of a file.
    ///   - readsFile: Whether to read the file of the body. If `false`, the initializer only checks that the file can be read.
    ///   - key: The idempotency key, from 1 to 255 printable ASCII characters; `random` creates one.
    ///   - token: The access token; an empty text counts as absent.
    /// - Throws: `ValidationError` for invalid input. The message names the valid format.
    init(
        method: String,
        url: String,
        headers lines: [String],
        data: String?,
        readsFile: Bool,
        key: String?,
        token: String?
    ) throws {
        let methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
        guard methods.contains(method.uppercased()), let method = HTTPRequest.Method(method.uppercased()) else {
            throw ValidationError("the method must be one of \(methods.joined(separator: ", "))")
        }
        let (base, path) = try Self.address(url)
        (self.base, self.method, self.path) = (base, method, path)
        var fields = try Self.fields(lines)
        self.key = key.map { $0 == "random" ? IdempotencyKeyMiddleware.randomKey() : $0 }
        if let value = self.key {
            guard !value.isEmpty, value.utf8.count <= 255,
                value.utf8.allSatisfy({ (0x20...0x7E).contains($0) && !"\"\\".utf8.contains($0) })
            else { throw ValidationError("--key must be 1 to 255 printable ASCII characters, without quotes and backslashes") }
            fields[.idempotencyKey] = "\"\(value)\""
        }
        self.token = token.flatMap { $0.isEmpty ? nil : $0 }
        if let token = self.token {
            guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw ValidationError("the token contains characters that are invalid in a token")
            }
            fields[.authorization] = "Bearer \(token)"
        }
        body = try data.map { try Self.body($0, readsFile: readsFile, type: fields[.contentType]) }
        headers = fields
    }

    /// Reads an address.
    /// - Returns: The scheme, the host and the port as an address; the path and the query as text.
    /// - Throws: `ValidationError`. The message names the valid format.
    static func address(_ url: String) throws -> (base: URL, path: String) {
        let address = URLComponents(string: url)
        guard let address, let scheme = address.scheme?.lowercased(), ["https", "http"].contains(scheme),
            let host = address.percentEncodedHost, !host.isEmpty, (1...65_535).contains(address.port ?? 80),
            address.user == nil, address.password == nil,
            let base = URL(string: "\(scheme)://\(host)" + (address.port.map { ":\($0)" } ?? ""))
        else {
            throw ValidationError("“\(url)” is not an address; write it as https://api.example.com/path, without a user")
        }
        let path = address.percentEncodedPath.isEmpty ? "/" : address.percentEncodedPath
        return (base, path + (address.percentEncodedQuery.map { "?\($0)" } ?? ""))
    }

    /// Parses headers.
    /// - Throws: `ValidationError` with the name of the invalid header, but without its value, which can be a secret.
    private static func fields(_ lines: [String]) throws -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, let name = HTTPField.Name(parts[0]), HTTPField.isValidValue(parts[1]) else {
                throw ValidationError("“\(line.prefix { $0 != ":" })” is not a header; write it as 'Name: value'")
            }
            fields.append(HTTPField(name: name, value: parts[1]))
        }
        return fields
    }

    /// Returns the body that the option `--data` describes. If the headers have no media type, the content determines it: JSON, or UTF-8
    /// text.
    private static func body(_ text: String, readsFile: Bool, type: String?) throws -> RequestBody {
        var bytes = Array(text.utf8)
        if text.hasPrefix("@") {
            let path = String(text.dropFirst())
            // `FileManager.contents(atPath:)` reads no pipes.
            guard let file = FileHandle(forReadingAtPath: path),
                let data = readsFile ? try? file.readToEnd() ?? Data() : Data()
            else { throw ValidationError("“\(path)” can't be read") }
            bytes = [UInt8](data)
        }
        let isJSON = (try? JSONParser().parse(bytes)) != nil
        return RequestBody(bytes, contentType: type ?? (isJSON ? "application/json" : "text/plain; charset=utf-8"))
    }
}
