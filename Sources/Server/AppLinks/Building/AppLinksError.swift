/// Why a configuration makes no association file.
public struct AppLinksError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The part before the first dot of an application identifier is no prefix of Apple's.
        public static let badAppPrefix = Self(rawValue: "bad_app_prefix")
        /// The part after the first dot of an application identifier is no bundle identifier.
        public static let badBundleID = Self(rawValue: "bad_bundle_id")
        /// No application is named.
        public static let noApps = Self(rawValue: "no_apps")
        /// An application is named twice.
        public static let repeatedApp = Self(rawValue: "repeated_app")
        /// The path of the link base has characters that are wildcards or don't belong in a path.
        public static let badBasePath = Self(rawValue: "bad_base_path")
        /// The name is no Android package.
        public static let badPackage = Self(rawValue: "bad_package")
        /// The text is no SHA-256 fingerprint.
        public static let badFingerprint = Self(rawValue: "bad_fingerprint")
        /// No certificate is named.
        public static let noFingerprints = Self(rawValue: "no_fingerprints")
    }

    /// The kind of fault.
    public let code: Code
    /// A sentence that says what to do.
    public let message: String

    public var description: String { message }

    /// Creates an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
