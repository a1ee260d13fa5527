import ErrorContract
import HTTPTypes

/// Django REST framework with SimpleJWT: the responses of `Tests/ForeignServers/django_server.py`.
extension ForeignSituation {
    private static func row(
        _ title: String,
        _ call: Call,
        _ status: Int,
        _ body: String,
        headers: HTTPFields = [:],
        isSignIn: Bool = false,
        translations: [Language: String] = [:]
    ) -> ForeignSituation {
        ForeignSituation(
            server: "Django REST",
            title: title,
            call: call,
            isSignIn: isSignIn,
            sendsCredentials: call.token != nil,
            status: status,
            headers: headers,
            body: body,
            translations: translations
        )
    }

    static let django = [
        row(
            "SimpleJWT sign-in with a wrong password",
            Call(method: .post, path: "/api/token/", body: #"{"username":"ana","password":"wrong"}"#),
            401,
            #"{"detail":"No active account found with the given credentials"}"#,
            isSignIn: true
        ),
        row(
            "SimpleJWT sign-in with empty fields",
            Call(method: .post, path: "/api/token/", body: #"{"username":""}"#),
            400,
            #"{"username":["This field may not be blank."],"password":["This field is required."]}"#,
            isSignIn: true
        ),
        row(
            "SimpleJWT, expired token",
            Call(path: "/api/me/", token: "expired-token"),
            401,
            #"{"detail":"Given token not valid for any token type","code":"token_not_valid","messages":[{"token_class":"AccessToken","token_type":"access","message":"Token is expired"}]}"#
        ),
        row(
            "SimpleJWT, request without a token",
            Call(path: "/api/me/"),
            401,
            #"{"detail":"Authentication credentials were not provided."}"#
        ),
        row(
            "Field map",
            Call(
                method: .post,
                path: "/api/accounts/",
                body: #"{"email":"nobody","password":"short","quantity":0,"items":[{"name":"a"},{}]}"#
            ),
            400,
            #"{"email":["Enter a valid email address."],"password":["Ensure this field has at least 8 characters."],"#
                + #""quantity":["Ensure this value is greater than or equal to 1."],"items":{"1":{"name":["This field is required."]}}}"#
        ),
        row(
            "Address taken, common password",
            Call(method: .post, path: "/api/accounts/", body: #"{"email":"Ana@example.org","password":"password"}"#),
            400,
            #"{"email":["This field must be unique."],"password":["This password is too common."]}"#
        ),
        row(
            "Field map, with LocaleMiddleware",
            Call(method: .post, path: "/i18n/accounts/", body: #"{"email":"nobody","password":"short"}"#),
            400,
            #"{"email":["Introduzca una dirección de correo electrónico válida."],"password":["Asegúrese de que este campo tenga al menos 8 caracteres."]}"#,
            headers: [.contentLanguage: "es"],
            translations: [
                .english:
                    #"{"email":["Enter a valid email address."],"password":["Ensure this field has at least 8 characters."]}"#
            ]
        ),
        row(
            "`non_field_errors`",
            Call(method: .post, path: "/api/orders/", body: "{}"),
            400,
            #"{"non_field_errors":["The order is closed."]}"#
        ),
        row(
            "List of texts",
            Call(method: .put, path: "/api/orders/", body: "{}"),
            400,
            #"["The order is closed."]"#
        ),
        row(
            "Throttle",
            Call(path: "/api/limited/", earlier: 1),
            429,
            #"{"detail":"Request was throttled. Expected available in 60 seconds."}"#,
            headers: [.retryAfter: "60"]
        ),
        row(
            "Throttle, with LocaleMiddleware",
            Call(path: "/i18n/limited/", earlier: 1),
            429,
            #"{"detail":"Solicitud fue regulada (throttled). Se espera que esté disponible en 60 segundos."}"#,
            headers: [.retryAfter: "60", .contentLanguage: "es"],
            translations: [.english: #"{"detail":"Request was throttled. Expected available in 60 seconds."}"#]
        ),
        row(
            "Permission denied",
            Call(path: "/api/admin/", token: "token"),
            403,
            #"{"detail":"You do not have permission to perform this action."}"#
        ),
        row("Missing object", Call(path: "/api/things/99/"), 404, #"{"detail":"No User matches the given query."}"#),
        row(
            "Unknown path",
            Call(path: "/api/nowhere/"),
            404,
            page("Not Found", "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>")
        ),
        row(
            "Wrong method",
            Call(method: .delete, path: "/api/accounts/"),
            405,
            #"{"detail":"Method \"DELETE\" not allowed."}"#
        ),
        row(
            "Wrong content type",
            Call(method: .post, path: "/api/accounts/", body: "a=b", contentType: "application/x-www-form-urlencoded"),
            415,
            #"{"detail":"Unsupported media type \"application/x-www-form-urlencoded\" in request."}"#
        ),
        row(
            "Malformed JSON",
            Call(method: .post, path: "/api/accounts/", body: #"{"email":"#),
            400,
            #"{"detail":"JSON parse error - Expecting value: line 1 column 10 (char 9)"}"#
        ),
        row(
            "Exception in a view",
            Call(path: "/api/broken/"),
            500,
            page("Server Error (500)", "<h1>Server Error (500)</h1><p></p>")
        ),
    ]

    private static func page(_ title: String, _ body: String) -> String {
        """

        <!doctype html>
        <html lang="en">
        <head>
          <title>\(title)</title>
        </head>
        <body>
          \(body)
        </body>
        </html>

        """
    }
}
