import ErrorContract
import HTTPTypes

/// Responses written from the documentation of servers, and from the backends of released apps.
extension ForeignSituation {
    private static func row(
        _ server: String,
        _ title: String,
        _ status: Int,
        _ body: String,
        headers: HTTPFields = [:],
        isSignIn: Bool = false,
        sendsCredentials: Bool = false,
        texts serverTextLanguage: Language? = nil
    ) -> ForeignSituation {
        ForeignSituation(
            server: server,
            title: title,
            isSignIn: isSignIn,
            sendsCredentials: sendsCredentials,
            serverTextLanguage: serverTextLanguage,
            status: status,
            headers: headers,
            body: body
        )
    }

    /// Backends whose texts are all in Spanish; their apps set `serverTextLanguage`.
    static let fieldApps = [
        row(
            "Apps in the field",
            "Reset limited, success form",
            429,
            #"{"success":false,"error_code":429,"errors":[{"field":"rate_limit","message":"Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en 1 hora."}]}"#,
            headers: [.retryAfter: "3600"],
            texts: .spanish
        ),
        row(
            "Apps in the field",
            "Limit without the delay in its text",
            429,
            #"{"success":false,"error_code":429,"errors":[{"field":"email","message":"Demasiados intentos con este correo."}]}"#,
            headers: [.retryAfter: "120"],
            texts: .spanish
        ),
        row(
            "Apps in the field",
            "Fields, success form",
            400,
            #"{"success":false,"error_code":400,"errors":[{"field":"email","message":"Ese correo no es válido."},{"field":"password","message":"La contraseña es muy corta."}]}"#,
            texts: .spanish
        ),
        row(
            "Apps in the field",
            "Fields, flat form",
            400,
            #"{"code":"VALIDATION_ERROR","message":"Datos inválidos","details":{"field_errors":{"email":["Ese correo ya está registrado."]}},"request_id":"r1"}"#,
            texts: .spanish
        ),
        row("Apps in the field", "Detail form", 400, #"{"detail":"El pedido ya fue enviado."}"#, texts: .spanish),
        row(
            "Apps in the field",
            "Refusal under status 200",
            200,
            #"{"success":false,"error":"El cupón ya fue usado."}"#,
            texts: .spanish
        ),
        row(
            "Apps in the field",
            "Code of the contract",
            403,
            #"{"error":{"code":"AUTH_USER_SUSPENDED","message":"Cuenta suspendida","timestamp":"2025-11-04T10:29:58Z","request_id":"01JC"}}"#,
            texts: .spanish
        ),
        row(
            "Apps in the field",
            "Sign-in with a wrong password",
            401,
            #"{"detail":"Credenciales inválidas"}"#,
            isSignIn: true,
            texts: .spanish
        ),
    ]

    static let frameworks = [
        row(
            "Laravel",
            "Field map",
            422,
            #"{"message":"The email field must be a valid email address. (and 1 more error)","errors":{"email":["The email field must be a valid email address."],"password":["The password field must be at least 8 characters."]}}"#
        ),
        row("Laravel", "Unauthenticated", 401, #"{"message":"Unauthenticated."}"#, sendsCredentials: true),
        row(
            "Laravel",
            "Throttle",
            429,
            #"{"message":"Too Many Attempts."}"#,
            headers: [.retryAfter: "45"]
        ),
        row("Laravel", "Expired CSRF token", 419, #"{"message":"CSRF token mismatch."}"#),
        row(
            "Laravel",
            "Debug mode",
            500,
            #"{"message":"SQLSTATE[23000]: Integrity constraint violation","exception":"QueryException","file":"/srv/app.php","line":7,"trace":[]}"#
        ),
        row("Rails", "Map of errors", 422, #"{"errors":{"email":["has already been taken"],"name":["can't be blank"]}}"#),
        row("Rails", "List of sentences", 422, #"{"errors":["Name can't be blank"]}"#),
        row("Rails", "Missing record", 404, #"{"status":404,"error":"Not Found"}"#),
        row("Rails", "Devise sign-in with a wrong password", 401, #"{"error":"Invalid Email or password."}"#, isSignIn: true),
        row(
            "Spring Boot",
            "Violations",
            400,
            #"{"timestamp":"2025-11-04T10:30:00.000+00:00","status":400,"error":"Bad Request","path":"/accounts","errors":[{"field":"email","defaultMessage":"must be a well-formed email address","code":"Email"}]}"#
        ),
        row(
            "ASP.NET",
            "Violations",
            400,
            #"{"title":"One or more validation errors occurred.","status":400,"errors":{"Name":["The Name field is required."]},"traceId":"00-a-b-00"}"#
        ),
        row("NestJS", "List of messages", 400, #"{"statusCode":400,"message":["email must be an email"],"error":"Bad Request"}"#),
        row("Express", "Unknown path", 404, "<!DOCTYPE html>\n<html><body><pre>Cannot GET /a</pre></body></html>"),
    ]

    static let services = [
        row(
            "Supabase",
            "Sign-in with a wrong password",
            400,
            #"{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}"#,
            isSignIn: true
        ),
        row(
            "Supabase",
            "Address taken",
            422,
            #"{"code":422,"error_code":"user_already_exists","msg":"User already registered"}"#
        ),
        row(
            "Supabase",
            "Token expired",
            401,
            #"{"code":"PGRST301","details":null,"hint":null,"message":"JWT expired"}"#,
            sendsCredentials: true
        ),
        row(
            "Firebase",
            "Sign-in with a wrong password",
            400,
            #"{"error":{"code":400,"message":"INVALID_LOGIN_CREDENTIALS","errors":[{"message":"INVALID_LOGIN_CREDENTIALS","domain":"global","reason":"invalid"}]}}"#,
            isSignIn: true
        ),
        row(
            "Firebase",
            "Too many attempts",
            400,
            #"{"error":{"code":400,"message":"TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily disabled."}}"#
        ),
        row(
            "OAuth 2",
            "Refused grant at a sign-in",
            400,
            #"{"error":"invalid_grant","error_description":"Invalid user credentials"}"#,
            isSignIn: true
        ),
        row(
            "Google",
            "Quota with `RetryInfo`",
            429,
            #"{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"30s"}]}}"#
        ),
        row(
            "Stripe",
            "Card declined",
            402,
            #"{"error":{"type":"card_error","code":"card_declined","decline_code":"generic_decline","message":"Your card was declined.","doc_url":"https://stripe.com/docs"}}"#
        ),
        row(
            "GraphQL",
            "Unauthenticated under status 200",
            200,
            #"{"data":null,"errors":[{"message":"m","extensions":{"code":"UNAUTHENTICATED"}}]}"#
        ),
    ]

    static let edges = [
        row(
            "Cloudflare",
            "Host unreachable",
            522,
            "<!DOCTYPE html><html><head><title>example.org | 522: Connection timed out</title></head><body><div id=\"cf-error-details\"></div></body></html>"
        ),
        row("Cloudflare", "Rate limit, as text", 429, "error code: 1015", headers: [.retryAfter: "10"]),
        row("Cloudflare", "Challenge", 403, "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"),
        row(
            "HAProxy",
            "No server",
            503,
            "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>"
        ),
        row("Captive portal", "Page under status 200", 200, "<!doctype html><html><body>Welcome to our Wi-Fi</body></html>"),
        row("Any server", "Empty 500", 500, ""),
        row("Any server", "Cut JSON", 400, #"{"detail":"Cut of"#),
    ]
}
