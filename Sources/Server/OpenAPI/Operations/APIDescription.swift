import ErrorContract

/// The API of a server. The OpenAPI document and the reference page are derived from it.
///
/// ```swift
/// let description = APIDescription(settings: APISettings(appName: "Notes", version: "1.0.0"))
/// let login = description.operation("POST", "/api/auth/login")
/// ```
///
/// Use this type for tests and code generation in Swift, because its limits and error codes are Swift types. Use ``OpenAPIDocument`` for
/// tools that read OpenAPI.
///
/// The initializer creates all operations. Later accesses only read them.
public struct APIDescription: Sendable {
    /// The settings of the server.
    public let settings: APISettings
    /// The operations in groups, in the order of the reference: registration and sessions, account settings, emailed links, password reset,
    /// pages, keys, app links, health, reference and development. The settings can exclude health and development.
    public let groups: [OperationGroup]

    /// Creates the description of a server.
    /// - Parameter settings: The settings of the server. Operations that the settings disable are not included.
    /// - Complexity: O(number of operations). Most operations are created only once for each process.
    public init(settings: APISettings) {
        self.settings = settings
        var groups: [OperationGroup] = [
            .sessions(settings), .accountSettings, .accountLinks, .recovery, .recoveryPages, .tokenKeys, .appLinks(settings),
        ]
        if !settings.isPartOfApp { groups.append(.health(settings)) }
        groups.append(.reference(settings))
        if settings.servesDevelopmentRoutes { groups.append(.development(settings)) }
        self.groups = groups.map { group in
            OperationGroup(group.title, group.about, group.operations.map { $0.adapted(to: settings) })
        }
    }

    /// All operations, in the order of the reference.
    public var operations: [APIOperation] { groups.flatMap(\.operations) }

    /// Returns the operation of a method and a requested path, with or without a trailing slash.
    ///
    /// The comparison is exact and case-sensitive. The method doesn't decode percent encoding.
    /// - Parameters:
    ///   - method: The method in capitals, such as `POST`. `HEAD` matches no operation.
    ///   - path: The path without a query. A parameter in braces matches any segment. For example, `/errors/AUTH_EMAIL_EXISTS` matches
    ///     `/errors/{code}`.
    /// - Returns: The first match; `nil` if there is none.
    /// - Complexity: O(number of operations).
    public func operation(_ method: String, _ path: String) -> APIOperation? {
        let segments = path.split(separator: "/")
        return operations.first { operation in
            let expected = operation.path.split(separator: "/")
            return operation.method.rawValue == method && expected.count == segments.count
                && zip(expected, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
    }

    /// The version of the OpenAPI Specification.
    static let openAPIVersion = "3.1.1"

    /// The title of the document and the page.
    package var title: String { "\(settings.appName) account API" }

    /// The introduction, which applies to all operations: paths, bodies, errors and languages. It depends on the default format of errors
    /// and on the languages.
    package var introduction: Prose {
        """
        Accounts, sessions and password reset by emailed links.

        The server accepts every path with and without a slash at its end; this description lists the one to call. \(otherPaths)

        Bodies are JSON, or have the same members as `application/x-www-form-urlencoded`. The server refuses a form that a page of \
        another site sends. Bodies have at most 65,536 bytes, and JSON has at most 32 levels. The server ignores unknown members, and \
        refuses members that occur twice. One response reports all problems of a body.

        Every error has a code, in `X-Error-Code` and in the body. The body has the configured form \
        (`\(settings.errorForm.rawValue)`). Requests with `Accept: application/problem+json` get problem details (RFC 9457) instead. \
        Texts are in \(settings.languages.map(\.rawValue).joined(separator: " or ")), as `Accept-Language` prefers.
        """
    }

    /// The responses to other requests than those of the operations. In an app, they depend on the router of the app.
    private var otherPaths: String {
        guard !settings.isPartOfApp else {
            return "The API is a part of an app, whose router responds to all other paths and methods."
        }
        return """
            It also accepts HEAD wherever it accepts GET. An unknown path gets 404 `RESOURCE_NOT_FOUND`. A method that a path does not \
            support gets 405 `REQUEST_METHOD_NOT_ALLOWED` with `Allow`.
            """
    }
}

/// A group of related operations. Each group is a tag of the document and a section of the reference page.
public struct OperationGroup: Sendable {
    /// The heading. It is unique, because it is also the name of the tag.
    public let title: String
    /// The description of the group.
    package let about: Prose
    /// The operations in the order of the reference.
    public let operations: [APIOperation]

    /// Creates a group.
    /// - Parameters:
    ///   - title: The heading, which must be unique.
    ///   - about: The description of the group.
    ///   - operations: The operations in the order of the reference.
    init(_ title: String, _ about: Prose, _ operations: [APIOperation]) {
        self.title = title
        self.about = about
        self.operations = operations
    }
}
