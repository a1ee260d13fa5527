public import AppLinks

/// The association files, which list the apps that can open this server's links. If a file is `nil`, it is not served.
///
/// `AppLinks` creates the files. The server sends them at `/.well-known/apple-app-site-association` and `/.well-known/assetlinks.json`.
public struct AssociatedApps: Sendable {
    /// The file for Apple's systems, from APPLE_APP_IDS.
    public var apple: AssociationFile?
    /// The file for Android, from ANDROID_PACKAGE and ANDROID_CERT_SHA256.
    public var android: AssetLinks?

    /// Creates a value without apps.
    public init() {}

    /// Reads the settings.
    /// - Parameter basePath: The path of the configured address. Each page's path begins with this path.
    init(_ settings: inout SettingReader, basePath: String) {
        if let ids = settings.list("APPLE_APP_IDS") {
            do throws(AppLinksError) {
                var apps: [AppIdentifier] = []
                for id in ids { apps.append(try AppIdentifier(id)) }
                apple = try AssociationFile(apps: apps, basePath: basePath)
            } catch {
                settings.refuse("APPLE_APP_IDS", "can't be used: \(error)")
            }
        }
        let package = settings.text("ANDROID_PACKAGE")
        let fingerprints = settings.list("ANDROID_CERT_SHA256")
        guard package != nil || fingerprints != nil else { return }
        guard let package, let fingerprints else {
            settings.refuse("ANDROID_PACKAGE", "and ANDROID_CERT_SHA256 must be set together")
            return
        }
        do throws(AppLinksError) {
            var certificates: [CertificateFingerprint] = []
            for text in fingerprints { certificates.append(try CertificateFingerprint(text)) }
            android = try AssetLinks(package: try AndroidPackage(package), fingerprints: certificates)
        } catch {
            settings.refuse("ANDROID_PACKAGE", "or ANDROID_CERT_SHA256 is invalid: \(error)")
        }
    }
}
