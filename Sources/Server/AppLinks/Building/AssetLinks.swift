import ErrorContract
import StrictJSON

/// The `assetlinks.json` file of a site. It permits an Android app to open the site's links and to use the site's saved passwords.
///
/// ```swift
/// let file = try AssetLinks(
///     package: AndroidPackage("com.example.notes"),
///     fingerprints: [CertificateFingerprint(String(repeating: "AB", count: 32))]
/// )
/// print(AssetLinks.path, AssetLinks.contentType, file.bytes.count)
/// ```
///
/// See Google, "Digital Asset Links": the relation `handle_all_urls` is for links, and `get_login_creds` is for saved passwords. This file
/// applies to all links of the site. The manifest of the Android app selects the links that open the app. For Apple's systems, use
/// ``AssociationFile``.
public struct AssetLinks: Hashable, Sendable {
    /// The path at which Android requests the file. Serve it at this path, with status 200 and without a redirect.
    public static let path = "/.well-known/assetlinks.json"
    /// The media type of the file.
    public static let contentType = "application/json"

    /// The app.
    public let package: AndroidPackage
    /// The certificates with which the app is signed. There is usually one certificate. There are two certificates while the developer
    /// replaces a key, or with Google Play's signing.
    public let fingerprints: [CertificateFingerprint]

    /// Creates a file for one app.
    /// - Parameters:
    ///   - package: The app.
    ///   - fingerprints: At least one certificate.
    /// - Throws: ``AppLinksError`` with the code ``AppLinksError/Code/noFingerprints``.
    public init(package: AndroidPackage, fingerprints: [CertificateFingerprint]) throws(AppLinksError) {
        guard !fingerprints.isEmpty else {
            throw AppLinksError(
                code: .noFingerprints,
                message: "Specify at least one SHA-256 fingerprint of a certificate with which \(package) is signed."
            )
        }
        self.package = package
        self.fingerprints = fingerprints
    }

    /// The file as JSON in UTF-8. The same app and certificates produce the same bytes. Each access encodes the file again, so store the
    /// result.
    public var bytes: [UInt8] {
        let target: JSONValue = [
            "namespace": "android_app",
            "package_name": .string(package.description),
            "sha256_cert_fingerprints": .array(fingerprints.map { .string($0.description) }),
        ]
        let relation: JSONValue = ["delegate_permission/common.handle_all_urls", "delegate_permission/common.get_login_creds"]
        let file: JSONValue = [["relation": relation, "target": target]]
        return file.encoded()
    }
}

/// The name of an Android app (Android, "Configure the app module": application ID), such as `com.example.app`.
///
/// The type checks only the format, not whether the app exists. ``AppIdentifier`` is the equivalent for Apple's systems.
public struct AndroidPackage: Hashable, Sendable, CustomStringConvertible {
    /// The name, as it was given.
    public let description: String

    /// Parses a name. A name has two or more segments. Each segment is a letter followed by letters, digits and underscores.
    /// - Parameter text: The name, such as `com.example.app`. Names are case-sensitive.
    /// - Throws: ``AppLinksError`` with the code ``AppLinksError/Code/badPackage``.
    public init(_ text: String) throws(AppLinksError) {
        let segments = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isName = segments.allSatisfy { segment in
            segment.first?.isLetter == true && segment.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
        }
        guard segments.count > 1, isName else {
            throw AppLinksError(code: .badPackage, message: "\"\(text)\" must be an Android package, as in com.example.app.")
        }
        description = text
    }
}

/// The SHA-256 fingerprint of the certificate with which an Android app is signed.
///
/// With Google Play's signing, use the fingerprint of the key that Google Play shows, and not the fingerprint of the upload key:
///
/// ```swift
/// let fingerprint = try CertificateFingerprint(String(repeating: "AB", count: 32))
/// ```
public struct CertificateFingerprint: Hashable, Sendable, CustomStringConvertible {
    /// 32 bytes as pairs of capital hexadecimal digits, separated by colons. Android compares fingerprints in this format.
    public let description: String

    /// Parses a fingerprint in the format of `keytool`, with or without colons. The digits can have uppercase or lowercase letters.
    /// - Parameter text: 64 hexadecimal digits, or 32 pairs of digits that are separated by colons.
    /// - Throws: ``AppLinksError`` with the code ``AppLinksError/Code/badFingerprint``.
    public init(_ text: String) throws(AppLinksError) {
        let groups = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let digits = groups.joined()
        let isGrouped = groups.count == 1 || (groups.count == 32 && groups.allSatisfy { $0.count == 2 })
        guard isGrouped, digits.count == 64, digits.allSatisfy({ $0.hexValue != nil }) else {
            throw AppLinksError(
                code: .badFingerprint,
                message: "\"\(text)\" must be a SHA-256 fingerprint: 32 pairs of hexadecimal digits, as keytool prints them."
            )
        }
        let capitals = Array(String(decoding: Array(digits), as: UTF8.self).uppercased().utf8)
        description = stride(from: 0, to: 64, by: 2)
            .map { String(decoding: capitals[$0..<$0 + 2], as: UTF8.self) }
            .joined(separator: ":")
    }
}
