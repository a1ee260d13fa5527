import HTTPTypes
import StrictJSON

/// A JSON object that is the body of an error response, with the status and the headers.
///
/// The members that distinguish most formats are looked up once, because a body is compared with dozens of formats.
struct ErrorBody {
    let status: Int
    let headers: HTTPFields
    let object: JSONObject
    let error: JSONValue?
    let errors: JSONValue?
    let message: JSONValue?
    let code: JSONValue?
    let detail: JSONValue?

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

    /// The member with a name, if there is one.
    subscript(key: String) -> JSONValue? { object[key] }

    /// Creates an error of a format.
    /// - Parameters:
    ///   - family: The format.
    ///   - code: The code, if it is valid as one.
    ///   - message: The text. A value other than a string counts as absent.
    func answer(_ family: ErrorBodyFamily, code: ErrorCode? = nil, message: JSONValue? = nil) -> DecodedError {
        var answer = DecodedError(status: status, family: family)
        answer.code = code
        answer.message = message?.stringValue
        return answer
    }
}

extension JSONValue {
    /// The value as an integer, if it is one.
    var intValue: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The text as a code, if it is valid as one. A number becomes its digits, unless it is zero or an HTTP status.
    var codeValue: ErrorCode? {
        switch self {
        case .string(let text): ErrorDecoder.isCode(text) ? ErrorCode(text) : nil
        case .integer(let value) where value != 0 && !(100...599).contains(value): ErrorCode("\(value)")
        default: nil
        }
    }

    /// Transforms the elements that are objects, in their order. Empty if this is no array.
    func mapObjects<Value>(_ transform: (JSONObject) -> Value?) -> [Value] {
        guard case .array(let elements) = self else { return [] }
        var found: [Value] = []
        found.reserveCapacity(elements.count)
        for case .object(let object) in elements {
            if let value = transform(object) { found.append(value) }
        }
        return found
    }

    /// The text as an id, if it is valid as one.
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
    /// RFC 9457 with the contract's own members `code`, `request_id` and `retry_after`.
    public static let contractProblem = Self(rawValue: "contract-problem")
    /// RFC 9457, plain.
    public static let problem = Self(rawValue: "problem")
    /// RFC 9457 with `errors`, each with a JSON Pointer.
    public static let problemPointers = Self(rawValue: "problem-pointers")
    /// RFC 9457 as ASP.NET sends it: `errors` is a map of fields.
    public static let aspNet = Self(rawValue: "aspnet")
    /// RFC 9457 with a type of the rate-limit draft.
    public static let rateLimitProblem = Self(rawValue: "rate-limit-problem")
    /// RFC 9457 from Cloudflare's edge.
    public static let cloudflareProblem = Self(rawValue: "cloudflare-problem")
    /// Cloudflare's API, version 4.
    public static let cloudflareAPI = Self(rawValue: "cloudflare-api")
    /// Google's AIP-193.
    public static let google = Self(rawValue: "google")
    /// grpc-gateway and Connect.
    public static let connect = Self(rawValue: "connect")
    /// Firebase Authentication.
    public static let firebase = Self(rawValue: "firebase")
    /// Stripe.
    public static let stripe = Self(rawValue: "stripe")
    /// OpenAI, and servers with the same format.
    public static let openAI = Self(rawValue: "openai")
    /// Anthropic, and servers with the same format.
    public static let anthropic = Self(rawValue: "anthropic")
    /// Microsoft Azure and Graph.
    public static let azure = Self(rawValue: "azure")
    /// GitHub.
    public static let gitHub = Self(rawValue: "github")
    /// JSON:API.
    public static let jsonAPI = Self(rawValue: "json-api")
    /// GraphQL.
    public static let graphQL = Self(rawValue: "graphql")
    /// Django REST framework: a map of fields, or a list of texts.
    public static let djangoREST = Self(rawValue: "django-rest")
    /// Django REST framework's throttle.
    public static let djangoThrottle = Self(rawValue: "django-throttle")
    /// FastAPI: `detail` is a list or an object.
    public static let fastAPI = Self(rawValue: "fastapi")
    /// Flask, with the documented handler that converts Werkzeug's pages to JSON.
    public static let flask = Self(rawValue: "flask")
    /// slowapi.
    public static let slowAPI = Self(rawValue: "slowapi")
    /// Laravel.
    public static let laravel = Self(rawValue: "laravel")
    /// Laravel's throttle.
    public static let laravelThrottle = Self(rawValue: "laravel-throttle")
    /// Rails.
    public static let rails = Self(rawValue: "rails")
    /// Spring Boot.
    public static let springBoot = Self(rawValue: "spring-boot")
    /// Express: a page with one line.
    public static let express = Self(rawValue: "express")
    /// Fastify.
    public static let fastify = Self(rawValue: "fastify")
    /// NestJS.
    public static let nestJS = Self(rawValue: "nestjs")
    /// Vapor.
    public static let vapor = Self(rawValue: "vapor")
    /// Hummingbird.
    public static let hummingbird = Self(rawValue: "hummingbird")
    /// Supabase: Auth and PostgREST.
    public static let supabase = Self(rawValue: "supabase")
    /// OAuth 2.
    public static let oAuth2 = Self(rawValue: "oauth2")
    /// Ory Kratos and Hydra.
    public static let kratos = Self(rawValue: "kratos")
    /// Amazon Web Services, JSON and XML.
    public static let aws = Self(rawValue: "aws")
    /// Discord.
    public static let discord = Self(rawValue: "discord")
    /// Slack.
    public static let slack = Self(rawValue: "slack")
    /// Twilio.
    public static let twilio = Self(rawValue: "twilio")
    /// Kubernetes.
    public static let kubernetes = Self(rawValue: "kubernetes")
    /// better-auth's throttle.
    public static let betterAuth = Self(rawValue: "better-auth")
    /// The one line of text of express-rate-limit, throttled and tower.
    public static let throttleText = Self(rawValue: "throttle-text")
    /// nginx's page.
    public static let nginx = Self(rawValue: "nginx")
    /// HAProxy's page.
    public static let haProxy = Self(rawValue: "haproxy")
    /// Cloudflare's page or line of text.
    public static let cloudflarePage = Self(rawValue: "cloudflare-page")
    /// A page instead of JSON: a captive portal, or a firewall's challenge.
    public static let notAPI = Self(rawValue: "not-api")
    /// `{"error":"…"}`.
    public static let errorText = Self(rawValue: "error-text")
    /// `{"message":"…"}`.
    public static let messageText = Self(rawValue: "message-text")
}
