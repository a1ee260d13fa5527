import HTTPTypes
import StrictJSON

/// A JSON object that is the body of an error response, with the status and the headers.
///
/// The extensions in this folder have one method for each format. A method returns `nil` if the body has another format. The decoder
/// compares a body with dozens of formats, so the initializer reads the most important members only once.
struct ErrorBody {
    /// The HTTP status of the response.
    let status: Int
    /// The header fields that the decoder reads.
    let headers: HTTPFields
    /// All members.
    let object: JSONObject
    /// The member `error`: an object, a text, or `true` in some formats.
    let error: JSONValue?
    /// The member `errors`: a list of problems, or a map of fields.
    let errors: JSONValue?
    /// The member `message`: a text, or a list of texts in some formats.
    let message: JSONValue?
    /// The member `code`: a text or a number.
    let code: JSONValue?
    /// The member `detail`: a text, or a list or an object from FastAPI.
    let detail: JSONValue?

    /// Creates a body, and reads the common members once.
    /// - Parameters:
    ///   - status: The HTTP status of the response.
    ///   - headers: The header fields that the decoder reads.
    ///   - object: The parsed body.
    init(status: Int, headers: HTTPFields, object: JSONObject) {
        self.status = status
        self.headers = headers
        self.object = object
        self.error = object["error"]
        self.errors = object["errors"]
        self.message = object["message"]
        self.code = object["code"]
        self.detail = object["detail"]
    }

    /// The member with a name; `nil` if it doesn't exist.
    subscript(key: String) -> JSONValue? { object[key] }

    /// Creates an error of a format.
    /// - Parameters:
    ///   - family: The format.
    ///   - code: The code; `nil` if the body has no valid code.
    ///   - message: The text. A value other than a string counts as absent.
    func decoded(_ family: ErrorBodyFamily, code: ErrorCode? = nil, message: JSONValue? = nil) -> DecodedError {
        var decoded = DecodedError(status: status, family: family)
        decoded.code = code
        decoded.message = message?.stringValue
        return decoded
    }
}

extension JSONValue {
    /// The value as an integer; `nil` if it is not an integer.
    var intValue: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The value as a code; `nil` if it is not a valid code. For a number, the code consists of its digits. Zero and HTTP statuses are not
    /// codes.
    var codeValue: ErrorCode? {
        switch self {
        case .string(let text): ErrorDecoder.isCode(text) ? ErrorCode(text) : nil
        case .integer(let value) where value != 0 && !(100...599).contains(value): ErrorCode("\(value)")
        default: nil
        }
    }

    /// Transforms the elements that are objects, in their order. The result is empty if the value is not an array.
    func mapObjects<Value>(_ transform: (JSONObject) -> Value?) -> [Value] {
        guard case .array(let elements) = self else { return [] }
        var found: [Value] = []
        found.reserveCapacity(elements.count)
        for case .object(let object) in elements {
            if let value = transform(object) { found.append(value) }
        }
        return found
    }

    /// The text as an id; `nil` if it is not a valid id.
    var idValue: String? {
        stringValue.flatMap { ErrorDecoder.isCode($0) ? $0 : nil }
    }
}

extension JSONObject {
    /// Returns the members with the given keys that exist and are not null.
    func picking(_ keys: String...) -> JSONObject {
        JSONObject(distinct: members.filter { keys.contains($0.key) && $0.value != .null })
    }

    /// Returns all members except those with the given keys.
    func dropping(_ keys: Set<String>) -> JSONObject {
        JSONObject(distinct: members.filter { !keys.contains($0.key) })
    }
}

extension String {
    /// Whether this is an upper-case name such as `EMAIL_EXISTS`.
    var isUpperSnake: Bool {
        utf8.first.map { (0x41...0x5A).contains($0) } == true
            && utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}

/// The formats of other servers.
extension ErrorBodyFamily {
    /// RFC 9457 with this library's own members `code`, `request_id` and `retry_after`.
    public static let contractProblem = Self(rawValue: "contract-problem")
    /// RFC 9457, if neither the type nor an additional member (such as `errors`) identifies another family.
    ///
    /// `{"type":"https://…","title":"…","status":403,"detail":"…"}`; the code is the last part of the type.
    public static let problem = Self(rawValue: "problem")
    /// RFC 9457 with a list `errors`, whose items have a JSON Pointer.
    ///
    /// `{"title":"…","errors":[{"detail":"…","pointer":"#/age"}]}`
    public static let problemPointers = Self(rawValue: "problem-pointers")
    /// RFC 9457 as ASP.NET sends it: `errors` is a map of fields.
    ///
    /// `{"title":"…","status":400,"errors":{"Name":["…"]},"traceId":"…"}`
    public static let aspNet = Self(rawValue: "aspnet")
    /// RFC 9457 with a problem type that the draft of the RateLimit header fields defines.
    public static let rateLimitProblem = Self(rawValue: "rate-limit-problem")
    /// RFC 9457, as Cloudflare's servers send it for their own errors.
    ///
    /// `{"title":"…","status":429,"error_name":"rate_limited","error_code":1015,"ray_id":"…"}`
    public static let cloudflareProblem = Self(rawValue: "cloudflare-problem")
    /// Cloudflare's API, version 4.
    ///
    /// `{"success":false,"errors":[{"code":10000,"message":"…"}],"messages":[],"result":null}`
    public static let cloudflareAPI = Self(rawValue: "cloudflare-api")
    /// Google's AIP-193.
    ///
    /// `{"error":{"code":429,"message":"…","status":"RESOURCE_EXHAUSTED","details":[…]}}`
    public static let google = Self(rawValue: "google")
    /// grpc-gateway and Connect.
    ///
    /// Connect sends `{"code":"not_found","message":"…"}`. grpc-gateway sends the number of the code instead of its name.
    public static let connect = Self(rawValue: "connect")
    /// Firebase Authentication.
    ///
    /// `{"error":{"code":400,"message":"EMAIL_EXISTS"}}`
    public static let firebase = Self(rawValue: "firebase")
    /// Stripe.
    ///
    /// `{"error":{"type":"card_error","code":"card_declined","message":"…","param":"number"}}`
    public static let stripe = Self(rawValue: "stripe")
    /// OpenAI, and servers with the same format.
    ///
    /// `{"error":{"message":"…","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`
    public static let openAI = Self(rawValue: "openai")
    /// Anthropic, and servers with the same format.
    ///
    /// `{"type":"error","error":{"type":"rate_limit_error","message":"…"},"request_id":"…"}`
    public static let anthropic = Self(rawValue: "anthropic")
    /// Microsoft Azure and Graph.
    ///
    /// `{"error":{"code":"…","message":"…","innererror":{"code":"PasswordReuseNotAllowed"}}}`
    public static let azure = Self(rawValue: "azure")
    /// GitHub.
    ///
    /// `{"message":"…","errors":[{"field":"title","code":"missing_field"}],"documentation_url":"…"}`
    public static let gitHub = Self(rawValue: "github")
    /// JSON:API.
    ///
    /// `{"errors":[{"status":"422","code":"…","detail":"…","source":{"pointer":"/data/attributes/x"}}]}`
    public static let jsonAPI = Self(rawValue: "json-api")
    /// GraphQL.
    ///
    /// `{"data":null,"errors":[{"message":"…","extensions":{"code":"UNAUTHENTICATED"}}]}`, often with status 200.
    public static let graphQL = Self(rawValue: "graphql")
    /// Django REST framework: a map of fields, or a list of texts.
    ///
    /// `{"amount":["…"],"non_field_errors":["…"]}`
    public static let djangoREST = Self(rawValue: "django-rest")
    /// The rate limiter of Django REST framework.
    ///
    /// `{"detail":"Request was throttled. Expected available in 41 seconds."}`
    public static let djangoThrottle = Self(rawValue: "django-throttle")
    /// FastAPI: `detail` is a list or an object.
    ///
    /// `{"detail":[{"loc":["body","email"],"msg":"…","type":"missing"}]}`
    public static let fastAPI = Self(rawValue: "fastapi")
    /// Flask, with the documented handler that converts Werkzeug's pages to JSON.
    public static let flask = Self(rawValue: "flask")
    /// slowapi.
    ///
    /// `{"error":"Rate limit exceeded: 5 per 1 minute"}`
    public static let slowAPI = Self(rawValue: "slowapi")
    /// Laravel.
    ///
    /// `{"message":"…","errors":{"email":["…"]}}`
    public static let laravel = Self(rawValue: "laravel")
    /// Laravel's rate limiter.
    ///
    /// `{"message":"Too Many Attempts."}`
    public static let laravelThrottle = Self(rawValue: "laravel-throttle")
    /// Rails.
    ///
    /// `{"status":404,"error":"Not Found"}` or `{"errors":{"email":["…"]}}`
    public static let rails = Self(rawValue: "rails")
    /// Spring Boot.
    ///
    /// `{"timestamp":"…","status":404,"error":"Not Found","path":"/a"}`
    public static let springBoot = Self(rawValue: "spring-boot")
    /// Express: a page with one line.
    public static let express = Self(rawValue: "express")
    /// Fastify.
    ///
    /// `{"statusCode":400,"code":"FST_ERR_VALIDATION","error":"Bad Request","message":"…"}`
    public static let fastify = Self(rawValue: "fastify")
    /// NestJS.
    ///
    /// `{"message":["…"],"error":"Bad Request","statusCode":400}`
    public static let nestJS = Self(rawValue: "nestjs")
    /// Vapor.
    ///
    /// `{"error":true,"reason":"…"}`
    public static let vapor = Self(rawValue: "vapor")
    /// Hummingbird.
    ///
    /// `{"error":{"message":"…"}}`
    public static let hummingbird = Self(rawValue: "hummingbird")
    /// Supabase: Auth and PostgREST.
    ///
    /// `{"code":400,"error_code":"validation_failed","msg":"…"}` or `{"code":"PGRST116","details":null,"hint":null,"message":"…"}`
    public static let supabase = Self(rawValue: "supabase")
    /// OAuth 2.
    ///
    /// `{"error":"invalid_grant","error_description":"…"}` (RFC 6749 §5.2)
    public static let oAuth2 = Self(rawValue: "oauth2")
    /// Ory Kratos and Hydra.
    ///
    /// `{"error":{"id":"session_inactive","code":401,"status":"…","reason":"…","message":"…"}}`
    public static let kratos = Self(rawValue: "kratos")
    /// Amazon Web Services, JSON and XML.
    ///
    /// `{"__type":"ns#ThrottlingException","message":"…"}` or `<Error><Code>…</Code><Message>…</Message></Error>`
    public static let aws = Self(rawValue: "aws")
    /// Discord.
    ///
    /// `{"message":"…","retry_after":64.6,"global":false}` or `{"code":50035,"message":"…","errors":{…}}`
    public static let discord = Self(rawValue: "discord")
    /// Slack.
    ///
    /// `{"ok":false,"error":"ratelimited"}`, with status 200.
    public static let slack = Self(rawValue: "slack")
    /// Twilio.
    ///
    /// `{"code":20429,"message":"…","more_info":"…","status":429}`
    public static let twilio = Self(rawValue: "twilio")
    /// Kubernetes.
    ///
    /// `{"kind":"Status","reason":"TooManyRequests","message":"…","details":{"retryAfterSeconds":1}}`
    public static let kubernetes = Self(rawValue: "kubernetes")
    /// better-auth's rate limiter.
    public static let betterAuth = Self(rawValue: "better-auth")
    /// One line of text, as the libraries express-rate-limit, throttled and tower send it.
    public static let throttleText = Self(rawValue: "throttle-text")
    /// nginx's page.
    public static let nginx = Self(rawValue: "nginx")
    /// HAProxy's page.
    public static let haProxy = Self(rawValue: "haproxy")
    /// Cloudflare's page or line of text.
    public static let cloudflarePage = Self(rawValue: "cloudflare-page")
    /// A page instead of JSON, from a captive portal or as a firewall's challenge.
    public static let notAPI = Self(rawValue: "not-api")
    /// One text under `error`: `{"error":"…"}`.
    public static let errorText = Self(rawValue: "error-text")
    /// One text under `message`: `{"message":"…"}`.
    public static let messageText = Self(rawValue: "message-text")
}
