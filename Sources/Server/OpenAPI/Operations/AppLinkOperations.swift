import ErrorContract
import StrictJSON

extension OperationGroup {
    /// Returns the operations that serve files under `/.well-known` for phones and password managers.
    /// - Parameter settings: The settings. They determine whether the files for Apple and Android are included. The redirect of
    ///   `/.well-known/change-password` is always included.
    static func appLinks(_ settings: APISettings) -> OperationGroup {
        OperationGroup(
            "Links that open apps",
            "Files that phones and password managers request.",
            (settings.servesAppleAssociation ? [appleAssociation] : [])
                + (settings.servesAndroidLinks ? [androidLinks] : []) + [changePassword]
        )
    }

    /// The file that allows Apple's systems to open links in an app. Apple doesn't follow redirects.
    private static let appleAssociation = APIOperation(
        method: .get,
        path: "/.well-known/apple-app-site-association",
        id: "appleAssociation",
        summary: "The apps that open links on Apple platforms",
        about: "The association file, created from `APPLE_APP_IDS`. The response is never a redirect.",
        responses: [DescribedResponse(200, "The file.", .json(appleFile, example: appleExample))]
    )

    /// The file that allows Android to open links in an app. Android doesn't follow redirects.
    private static let androidLinks = APIOperation(
        method: .get,
        path: "/.well-known/assetlinks.json",
        id: "androidLinks",
        summary: "The apps that open links on Android",
        about: "The statement list, created from `ANDROID_PACKAGE` and `ANDROID_CERT_SHA256`. The response is never a redirect.",
        responses: [DescribedResponse(200, "The file.", .json(androidFile, example: androidExample))]
    )

    /// The redirect to the page for a new password, for password managers. Its path is a convention of the W3C ("A Well-Known URL for
    /// Changing Passwords").
    private static let changePassword = APIOperation(
        method: .get,
        path: "/.well-known/change-password",
        id: "changePassword",
        summary: "The address for changing a password",
        about: "Redirects password managers to the page that requests a link.",
        responses: [DescribedResponse(302, "The page.", headers: [location])]
    )

    /// The keys with which other services verify access tokens.
    static let tokenKeys = OperationGroup(
        "Keys of access tokens",
        "Other services verify access tokens with these keys, without a secret of this server.",
        [
            APIOperation(
                method: .get,
                path: "/.well-known/jwks.json",
                id: "tokenKeys",
                summary: "The public keys of access tokens",
                about: """
                    A JSON Web Key Set (RFC 7517). Access tokens are JWTs of type `at+jwt`, signed with ES256 by the key that their header \
                    names (`kid`). A new key is published 360 seconds before it signs.
                    """,
                parameters: [ifNoneMatch],
                responses: [
                    DescribedResponse(200, "The keys.", .json(keySet, example: keySetExample), headers: [cacheControl, tag]),
                    DescribedResponse(304, "The client has these keys.", headers: [cacheControl, tag]),
                ],
                asksStore: true
            )
        ]
    )

    /// The header with which a service avoids downloading keys that it already has (RFC 9110 §13.1.2).
    private static let ifNoneMatch = APIParameter(
        name: "If-None-Match",
        place: .header,
        schema: .text(),
        about: "The `ETag` of the keys that the client has."
    )

    /// The header that lets a service use the keys for 300 seconds without a new request. The server publishes a new key 360 seconds before
    /// it signs tokens with this key. Each service therefore has the key in time.
    private static let cacheControl = APIHeader(
        name: "Cache-Control",
        schema: .text(),
        about: "`public, max-age=300`."
    )

    /// The `ETag` of the keys.
    private static let tag = APIHeader(name: "ETag", schema: .text(), about: "The version of the keys, for `If-None-Match`.")

    /// The schema of the key set: EC keys on the curve P-256, without private members (RFC 7517, RFC 7518 §6.2).
    private static let keySet = NamedSchema(
        "TokenKeys",
        .object(
            Field(
                "keys",
                .list(
                    of: .object(
                        Field("kty", .constant("EC")),
                        Field("crv", .constant("P-256")),
                        Field("use", .constant("sig")),
                        Field("alg", .constant("ES256")),
                        Field("kid", .text()),
                        Field("x", .text()),
                        Field("y", .text())
                    ),
                    atLeast: 1
                )
            )
        )
    )

    /// An example with one key.
    private static let keySetExample: JSONValue = [
        "keys": [
            [
                "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "5f0c1d2e3a4b5c6d",
                "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
            ]
        ]
    ]

    /// The header with the address of the page for a new password.
    private static let location = APIHeader(
        name: "Location",
        schema: .text(TextRules(format: "uri-reference")),
        about: "The page's address."
    )

    /// The schema of a list of texts.
    private static let texts = Schema.list(of: .text())
    /// The apps in Apple's file, and the paths that these apps open.
    private static let details = Schema.object(Field("appIDs", texts), Field("components", .list(of: .object())))

    /// The file of Apple's universal links and shared web credentials.
    private static let appleFile = NamedSchema(
        "AppleAssociation",
        .object(
            Field("applinks", .object(Field("details", .list(of: details)))),
            Field("webcredentials", .object(Field("apps", texts)))
        )
    )

    /// An example of Apple's file.
    private static let appleExample: JSONValue = [
        "applinks": [
            "details": [
                ["appIDs": ["TEAM123456.com.example.app"], "components": [["/": "/reset-password", "?": ["token": "?*"]]]]
            ]
        ], "webcredentials": ["apps": ["TEAM123456.com.example.app"]],
    ]

    /// The app that a statement in Android's file refers to.
    private static let target = Schema.object(
        Field("namespace", .constant("android_app")),
        Field("package_name", .text()),
        Field("sha256_cert_fingerprints", texts)
    )

    /// The statement list of Digital Asset Links.
    private static let androidFile = NamedSchema(
        "AssetLinks",
        .list(of: .object(Field("relation", texts), Field("target", target)), atLeast: 1)
    )

    /// An example of Android's file.
    private static let androidExample: JSONValue = [
        [
            "relation": ["delegate_permission/common.handle_all_urls"],
            "target": [
                "namespace": "android_app", "package_name": "com.example.app",
                "sha256_cert_fingerprints": [.string(Array(repeating: "AB", count: 32).joined(separator: ":"))],
            ],
        ]
    ]
}
