import ErrorContract
public import Foundation
import Timekeeping

/// Encodes the values of requests as JSON, and decodes the values of responses.
///
/// Set the coding once per client. ``standard`` keeps the names of JSON members unchanged. ``snakeCase`` converts between JSON members such
/// as `created_at` and Swift properties such as `createdAt`.
///
/// ```swift
/// var api = APIClient(baseURL: url)
/// api.coding = .snakeCase
/// api.coding.dates = .millisecondsSince1970
/// ```
///
/// With ``snakeCase``, `user_id` becomes `userId`, not `userID`. For a property named `userID`, declare `case userID = "userId"` in the
/// `CodingKeys` of the model.
public struct JSONCoding: Sendable {
    /// The relation between the names of JSON members and the names of Swift properties.
    public enum Keys: Hashable, Sendable {
        /// The names of JSON members equal the names of Swift properties.
        case asWritten
        /// JSON members have names in snake case (`created_at`), and Swift properties have names in camel case (`createdAt`).
        case snakeCase
    }

    /// The format of dates in JSON. Unless a case describes a difference, encoding and decoding use the same format.
    public enum Dates: Sendable {
        /// Strings in the format of RFC 3339, which is a part of ISO 8601, such as `2026-01-31T12:00:00Z`. Decoding accepts dates with and
        /// without fractional seconds. Encoding writes no fractional seconds.
        case iso8601
        /// Like ``iso8601``, but encodes three digits of fractional seconds.
        case iso8601WithFractionalSeconds
        /// Numbers of seconds since 1970-01-01 00:00 UTC.
        case secondsSince1970
        /// Numbers of milliseconds since 1970-01-01 00:00 UTC.
        case millisecondsSince1970
        /// A format of the app. The app passes two functions, which decode and encode dates.
        case custom(
            decode: @Sendable (any Decoder) throws -> Date,
            encode: @Sendable (Date, any Encoder) throws -> Void
        )
    }

    /// Unchanged names, and dates in ISO 8601.
    public static let standard = JSONCoding()
    /// Names of members in snake case, and dates in ISO 8601.
    public static let snakeCase = JSONCoding(keys: .snakeCase)

    /// The relation between the names of JSON members and the names of Swift properties.
    public var keys: Keys
    /// The format of dates.
    public var dates: Dates
    private var factories: (encoder: @Sendable () -> JSONEncoder, decoder: @Sendable () -> JSONDecoder)?

    /// Creates a coding.
    /// - Parameters:
    ///   - keys: The relation between the names of JSON members and the names of Swift properties.
    ///   - dates: The format of dates in requests and responses.
    public init(keys: Keys = .asWritten, dates: Dates = .iso8601) {
        self.keys = keys
        self.dates = dates
    }

    /// Creates a coding with encoders and decoders that the app configures. ``keys`` and ``dates`` then have no effect.
    ///
    /// - Parameters:
    ///   - encoder: Creates the encoder of one request body.
    ///   - decoder: Creates the decoder of one response body.
    public init(encoder: @escaping @Sendable () -> JSONEncoder, decoder: @escaping @Sendable () -> JSONDecoder) {
        self.init()
        factories = (encoder, decoder)
    }

    /// Creates an encoder. By default, the encoder sorts the keys of objects, so that equal values have equal bytes, and doesn't escape
    /// slashes.
    public func makeEncoder() -> JSONEncoder {
        if let factories { return factories.encoder() }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if keys == .snakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
        switch dates {
        case .iso8601: encoder.dateEncodingStrategy = .iso8601
        case .iso8601WithFractionalSeconds: encoder.dateEncodingStrategy = .custom(Self.writeFractional)
        case .secondsSince1970: encoder.dateEncodingStrategy = .secondsSince1970
        case .millisecondsSince1970: encoder.dateEncodingStrategy = .millisecondsSince1970
        case .custom(_, let encode): encoder.dateEncodingStrategy = .custom(encode)
        }
        return encoder
    }

    /// Creates a decoder. The client creates one for each response that it decodes.
    public func makeDecoder() -> JSONDecoder {
        if let factories { return factories.decoder() }
        let decoder = JSONDecoder()
        if keys == .snakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        switch dates {
        case .iso8601, .iso8601WithFractionalSeconds: decoder.dateDecodingStrategy = .custom(Self.readInternetDate)
        case .secondsSince1970: decoder.dateDecodingStrategy = .secondsSince1970
        case .millisecondsSince1970: decoder.dateDecodingStrategy = .millisecondsSince1970
        case .custom(let decode, _): decoder.dateDecodingStrategy = .custom(decode)
        }
        return decoder
    }

    /// Decodes a date in the format of RFC 3339, with or without fractional seconds.
    @Sendable
    private static func readInternetDate(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        guard let date = InternetDate.parse(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "The date is not of the form of RFC 3339.")
        }
        return date
    }

    /// Encodes a date in the format of ISO 8601, with three digits of fractional seconds.
    @Sendable
    private static func writeFractional(_ date: Date, _ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

/// Decodes a value from the body of a successful response. The body is either an object that contains the value
/// (`{"success":true,"data":{…}}`), or the value itself.
///
/// ``ErrorDecoder/refusalInSuccess(status:headers:body:now:)`` has already checked that the body is a success.
struct SuccessEnvelope<Value: Decodable>: Decodable {
    let value: Value

    private enum Key: CodingKey { case success, data }

    /// Decodes the member `data` if the member `success` is `true`. Otherwise, or if `data` can't be decoded, decodes the value from the
    /// whole body.
    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: Key.self), container.contains(.data),
            (try? container.decodeIfPresent(Bool.self, forKey: .success)) == true
        else {
            value = try Value(from: decoder)
            return
        }
        do {
            value = try container.decode(Value.self, forKey: .data)
        } catch {
            // A flat model can itself have members named `success` and `data`.
            guard let flat = try? Value(from: decoder) else { throw error }
            value = flat
        }
    }
}
