import ErrorContract
import StrictJSON

/// The `assetlinks.json` file: which Android app may open the site's links and use its passwords.
///
/// Google, "Digital Asset Links": `handle_all_urls` for links, `get_login_creds` for saved passwords.
public struct AssetLinks: Hashable, Sendable {
    /// Where Android asks for the file; it is served here without a redirect.
    public static let path = "/.well-known/assetlinks.json"
    /// The media type that the file is served with.
    public static let contentType = "application/json"

    /// The app.
    public let package: AndroidPackage
    /// The certificates that the app is signed with.
    public let fingerprints: [CertificateFingerprint]

    /// Creates a file.
    /// - Throws: ``AppLinksError`` with code ``AppLinksError/Code/noFingerprints``.
    public init(package: AndroidPackage, fingerprints: [CertificateFingerprint]) throws(AppLinksError) {
        guard !fingerprints.isEmpty else {
            throw AppLinksError(
                code: .noFingerprints,
                message: "Name at least one SHA-256 fingerprint of a certificate that \(package) is signed with."
            )
        }
        self.package = package
        self.fingerprints = fingerprints
    }

    /// The file.
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
