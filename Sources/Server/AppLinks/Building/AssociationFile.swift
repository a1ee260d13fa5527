import ErrorContract
import StrictJSON

/// The `apple-app-site-association` file of a server whose emails contain links.
///
/// ```swift
/// let app = try AppIdentifier("ABCDE12345.com.example.notes")
/// let file = try AssociationFile(apps: [app])
/// print(AssociationFile.path, AssociationFile.contentType, file.bytes.count)
/// ```
///
/// The file of the app `ABCDE12345.com.example.app` has this content, without the line breaks. `…` stands for the components of the other
/// links:
///
/// ```
/// {"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":[
/// {"/":"/reset-password","?":{"token":"?*"}},{"/":"/reset-password","#":"?*"},…]}]},
/// "webcredentials":{"apps":["ABCDE12345.com.example.app"]}}
/// ```
///
/// See Apple, "Supporting associated domains" and "applinks.Details.Components". The file has two components for each link: the first one
/// matches links with a token in the query, and the second one matches links with a fragment. A link without a token stays in the browser.
/// The service `webcredentials` makes iOS save the new password for the domain.
///
/// For Android, use ``AssetLinks``. To check a file that was written by hand, use ``AssociationLint``.
public struct AssociationFile: Hashable, Sendable {
    /// The path at which Apple requests the file. Serve it at this path, with status 200 and without a redirect.
    public static let path = "/.well-known/apple-app-site-association"
    /// The media type of the file.
    public static let contentType = "application/json"
    /// The last segments of the paths of links: reset a password, verify an address, create an account, confirm a new address, restore a
    /// former address, and restore a deleted account.
    public static let linkNames = [
        "reset-password", "verify-email", "activate", "confirm-email", "undo-email", "keep-account",
    ]

    /// The apps, in the order of precedence.
    public let apps: [AppIdentifier]
    /// The paths of links, percent-encoded, such as `/app/reset-password`, in the order of ``linkNames``.
    public let linkPaths: [String]

    /// Creates a file.
    /// - Parameters:
    ///   - apps: At least one app, without duplicates. If several are installed, the first one opens the link.
    ///   - basePath: The path of the configured address of links, percent-encoded. The initializer appends the names of links to this path.
    ///     If the path ends with `/reset-password`, the names replace this end.
    /// - Throws: ``AppLinksError`` with the code ``AppLinksError/Code/noApps``, ``AppLinksError/Code/repeatedApp`` or
    ///   ``AppLinksError/Code/badBasePath``.
    public init(apps: [AppIdentifier], basePath: String = "/") throws(AppLinksError) {
        guard !apps.isEmpty else {
            throw AppLinksError(code: .noApps, message: "Specify at least one app, as in ABCDE12345.com.example.app.")
        }
        for (index, app) in apps.enumerated() where apps[..<index].contains(app) {
            throw AppLinksError(code: .repeatedApp, message: "\(app) is listed twice; list it once.")
        }
        self.apps = apps
        let base = try Self.base(of: basePath)
        linkPaths = Self.linkNames.map { "\(base)/\($0)" }
    }

    /// The file as JSON in UTF-8. The same configuration produces the same bytes. Each access encodes the file again, so store the result.
    public var bytes: [UInt8] {
        let ids = JSONValue.array(apps.map { .string($0.description) })
        let components = linkPaths.flatMap { path -> [JSONValue] in
            [["/": .string(path), "?": ["token": "?*"]], ["/": .string(path), "#": "?*"]]
        }
        let file: JSONValue = [
            "applinks": ["details": [["appIDs": ids, "components": .array(components)]]],
            "webcredentials": ["apps": ids],
        ]
        return file.encoded()
    }

    /// Returns the common beginning of the paths of links: an empty text for `/`, and `/app` for `/app`, `/app/` and `/app/reset-password`.
    /// - Throws: ``AppLinksError`` with the code ``AppLinksError/Code/badBasePath`` if the path has wildcards or invalid characters. With
    ///   wildcards, the file would also match links that no email contains.
    private static func base(of basePath: String) throws(AppLinksError) -> String {
        var base = Array(basePath.utf8)
        let others = Set("-._~/%!&'(),+;=:@".utf8)
        guard base.first.map({ $0 == UInt8(ascii: "/") }) ?? true,
            base.allSatisfy({ $0.isLetter || $0.isDigit || others.contains($0) })
        else {
            throw AppLinksError(
                code: .badBasePath,
                message: "The path \"\(basePath)\" must begin with / and have no *, ?, #, $ or character that a URL encodes."
            )
        }
        while base.last == UInt8(ascii: "/") { base.removeLast() }
        let name = Array("/reset-password".utf8)
        if Array(base.suffix(name.count)) == name { base.removeLast(name.count) }
        return String(decoding: base, as: UTF8.self)
    }
}

/// An error that reports why a configuration is invalid. Two errors are equal if their codes are equal, even if their messages differ.
///
/// Show the message to the operator, and compare the code in programs. Neither contains a secret.
public struct AppLinksError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of problem. Codes are stable. Later versions may add codes, so treat an unknown code like any other problem.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The text of the code, in lower snake case.
        public let rawValue: String

        /// Creates a code from its text. The text isn't validated.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The part before the first dot of an application identifier is not a valid prefix.
        public static let badAppPrefix = Self(rawValue: "bad_app_prefix")
        /// The part after the first dot of an application identifier is not a bundle identifier.
        public static let badBundleID = Self(rawValue: "bad_bundle_id")
        /// There is no app.
        public static let noApps = Self(rawValue: "no_apps")
        /// An app is listed twice.
        public static let repeatedApp = Self(rawValue: "repeated_app")
        /// The path contains wildcards or characters that are invalid in a path.
        public static let badBasePath = Self(rawValue: "bad_base_path")
        /// The name is not an Android package.
        public static let badPackage = Self(rawValue: "bad_package")
        /// The text is not a SHA-256 fingerprint.
        public static let badFingerprint = Self(rawValue: "bad_fingerprint")
        /// There is no certificate.
        public static let noFingerprints = Self(rawValue: "no_fingerprints")
    }

    /// The kind of problem.
    public let code: Code
    /// A sentence with the fix.
    public let message: String

    /// The message.
    public var description: String { message }

    /// Creates an error.
    /// - Parameters:
    ///   - code: The kind of problem.
    ///   - message: A sentence with the fix.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// Returns whether the codes are equal. The messages are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
