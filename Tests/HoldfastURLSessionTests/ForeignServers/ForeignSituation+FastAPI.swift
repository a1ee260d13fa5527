import ErrorContract
import HTTPTypes

/// FastAPI with slowapi, and nginx: the responses of `Tests/ForeignServers/fastapi_server.py` and of a real nginx.
extension ForeignSituation {
    private static func row(
        _ title: String,
        _ call: Call,
        _ status: Int,
        _ body: String,
        headers: HTTPFields = [:],
        isSignIn: Bool = false,
        sendsCredentials: Bool = false
    ) -> ForeignSituation {
        ForeignSituation(
            server: "FastAPI",
            title: title,
            call: call,
            isSignIn: isSignIn,
            sendsCredentials: sendsCredentials,
            status: status,
            headers: headers,
            body: body
        )
    }

    static let fastAPI = [
        row(
            "Sign-in with a wrong password",
            Call(method: .post, path: "/token", body: #"{"username":"ana","password":"wrong"}"#),
            401,
            #"{"detail":"Incorrect username or password"}"#,
            isSignIn: true
        ),
        row("Request without a token", Call(path: "/me"), 401, #"{"detail":"Not authenticated"}"#),
        row(
            "Token refused",
            Call(path: "/me"),
            401,
            #"{"detail":"Could not validate credentials"}"#,
            sendsCredentials: true
        ),
        row(
            "List of violations",
            Call(
                method: .post,
                path: "/accounts",
                body: #"{"email":"nobody","password":"short","quantity":0,"items":[{"name":"a"},{}]}"#
            ),
            422,
            #"{"detail":[{"type":"value_error","loc":["body","email"],"msg":"value is not a valid email address: An email address must have an @-sign.","input":"nobody","ctx":{"reason":"An email address must have an @-sign."}},"#
                + #"{"type":"string_too_short","loc":["body","password"],"msg":"String should have at least 8 characters","input":"short","ctx":{"min_length":8}},"#
                + #"{"type":"greater_than_equal","loc":["body","quantity"],"msg":"Input should be greater than or equal to 1","input":0,"ctx":{"ge":1}},"#
                + #"{"type":"missing","loc":["body","items",1,"name"],"msg":"Field required","input":{}}]}"#
        ),
        row(
            "Parameter of the query",
            Call(path: "/search?page=one"),
            422,
            #"{"detail":[{"type":"int_parsing","loc":["query","page"],"msg":"Input should be a valid integer, unable to parse string as an integer","input":"one"}]}"#
        ),
        row(
            "Malformed JSON",
            Call(method: .post, path: "/accounts", body: #"{"email":"#),
            422,
            #"{"detail":[{"type":"json_invalid","loc":["body",9],"msg":"JSON decode error","input":{},"ctx":{"error":"Expecting value"}}]}"#
        ),
        row("`HTTPException` with a text", Call(path: "/items/1"), 404, #"{"detail":"Item not found"}"#),
        row(
            "`HTTPException` with a text and `Content-Language`",
            Call(path: "/items/9"),
            404,
            #"{"detail":"No encontramos ese artículo"}"#,
            headers: [.contentLanguage: "es"]
        ),
        row("`HTTPException` without a text", Call(path: "/items/7"), 403, #"{"detail":"Forbidden"}"#),
        row(
            "`HTTPException` with an object",
            Call(path: "/items/8"),
            409,
            #"{"detail":{"code":"OUT_OF_STOCK","message":"Only 2 left","left":2}}"#
        ),
        row("Unknown path", Call(path: "/nowhere"), 404, #"{"detail":"Not Found"}"#),
        row("Wrong method", Call(method: .delete, path: "/search"), 405, #"{"detail":"Method Not Allowed"}"#),
        row(
            "slowapi, as it comes",
            Call(path: "/limited", earlier: 1),
            429,
            #"{"error":"Rate limit exceeded: 1 per 1 hour"}"#
        ),
        row(
            "slowapi with `headers_enabled`",
            Call(path: "/told/limited", earlier: 1),
            429,
            #"{"error":"Rate limit exceeded: 1 per 1 hour"}"#,
            headers: [.retryAfter: "3600"]
        ),
        row("Exception in a route", Call(path: "/broken"), 500, "Internal Server Error"),
    ]

    static let nginx = [
        (404, "404 Not Found", Call(path: "/nowhere")),
        (
            413, "413 Request Entity Too Large",
            Call(method: .post, path: "/small", body: #"{"text":""# + String(repeating: "a", count: 2_000) + #""}"#)
        ),
        (429, "429 Too Many Requests", Call(path: "/limited", earlier: 1)),
        (502, "502 Bad Gateway", Call(path: "/bad-gateway")),
        (503, "503 Service Temporarily Unavailable", Call(path: "/unavailable")),
    ].map { status, title, call in
        ForeignSituation(
            server: "nginx",
            title: String(title.dropFirst(4)),
            call: call,
            status: status,
            body: [
                "<html>", "<head><title>\(title)</title></head>", "<body>", "<center><h1>\(title)</h1></center>",
                "<hr><center>nginx</center>", "</body>", "</html>", "",
            ].joined(separator: "\r\n")
        )
    }
}
