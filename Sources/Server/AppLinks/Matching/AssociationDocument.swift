import ErrorContract
import StrictJSON

/// The `applinks` service of a file, prepared for matching links.
struct AssociationDocument: Sendable {
    /// The size in bytes of the largest file that Apple accepts, uncompressed (App Search Programming Guide, 2016-04-01).
    static let largest = 128 * 1024

    /// The entries of `details`, in their order.
    let entries: [AssociationEntry]

    /// Reads a parsed file leniently: the reader ignores values of the wrong type, as the system does.
    init(_ file: JSONValue) {
        let applinks = file.objectValue?["applinks"]?.objectValue
        var reader = RuleReader(variables: applinks?["substitutionVariables"]?.objectValue)
        let defaults = applinks?["defaults"]?.objectValue
        var entries: [AssociationEntry] = []
        switch applinks?["details"] {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                guard let details = element.objectValue else { continue }
                entries.append(Self.entry(details, at: index, apps: Self.apps(details), defaults: defaults, reader: &reader))
            }
        case .object(let byApp):
            for (index, member) in byApp.members.enumerated() {
                guard let details = member.value.objectValue else { continue }
                entries.append(Self.entry(details, at: index, apps: [member.key], defaults: defaults, reader: &reader))
            }
        default: break
        }
        self.entries = entries
    }

    /// Returns the apps of an entry. If `appID` and `appIDs` are both present, both are used (Apple, "applinks.Details").
    private static func apps(_ details: JSONObject) -> [String] {
        let one = details["appID"]?.stringValue.map { [$0] } ?? []
        let many = details["appIDs"]?.arrayValue?.compactMap(\.stringValue) ?? []
        return one + many.filter { !one.contains($0) }
    }

    /// Reads an entry. Since iOS 13, `paths` are ignored if there are `components` (Apple, WWDC 2019, session 717).
    private static func entry(
        _ details: JSONObject,
        at index: Int,
        apps: [String],
        defaults: JSONObject?,
        reader: inout RuleReader
    ) -> AssociationEntry {
        var rules: [LinkRule] = []
        if let components = details["components"]?.arrayValue {
            let levels = [defaults, details["defaults"]?.objectValue]
            for (place, component) in components.enumerated() {
                guard let object = component.objectValue else { continue }
                rules.append(reader.component(object, at: place, defaults: levels))
            }
            return AssociationEntry(index: index, apps: apps, format: .components, rules: rules)
        }
        for (place, path) in (details["paths"]?.arrayValue ?? []).enumerated() {
            guard let text = path.stringValue else { continue }
            rules.append(reader.path(text, at: place))
        }
        return AssociationEntry(index: index, apps: apps, format: .paths, rules: rules)
    }
}

/// One element of `applinks.details`.
struct AssociationEntry: Hashable, Sendable {
    /// The format of the entry.
    enum Format: Hashable, Sendable {
        /// `components`, since iOS 13.
        case components
        /// `paths`, since iOS 9.
        case paths
    }

    /// The index of the entry in `details`, from 0.
    let index: Int
    /// The identifiers of the apps, including malformed ones.
    let apps: [String]
    /// The format of the rules.
    let format: Format
    /// The rules, in the order in which the matcher tries them.
    let rules: [LinkRule]
}

/// The bytes of a file, and whether they have a signature or a byte order mark. A signed file (CMS) begins with an ASN.1 SEQUENCE, so it is
/// never valid JSON.
struct AssociationText {
    /// The size with the byte order mark.
    let byteCount: Int
    /// Whether the file begins with a byte order mark, which Apple doesn't accept.
    let hasByteOrderMark: Bool
    /// Whether this is a signed file (CMS) for iOS 8 or earlier, which is not JSON.
    let isSigned: Bool
    /// The bytes without a byte order mark.
    let json: ArraySlice<UInt8>

    /// Inspects the first bytes of a file, and copies the file once.
    init(_ bytes: some Collection<UInt8>) {
        let all = Array(bytes)
        byteCount = all.count
        hasByteOrderMark = all.starts(with: [0xEF, 0xBB, 0xBF])
        isSigned = all.starts(with: [0x30, 0x80]) || all.starts(with: [0x30, 0x82]) || all.starts(with: [0x30, 0x83])
        json = hasByteOrderMark ? all.dropFirst(3) : all[...]
    }
}
