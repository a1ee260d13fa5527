import HTTPTypes

/// An error response with a body of 1 KB and typical headers.
struct ErrorSample {
    let name: String
    let status: Int
    let headers: HTTPFields
    let body: [UInt8]

    static let size = 1_024

    /// Creates a response whose body is filled with numbered parts to about ``size`` bytes.
    private init(
        _ name: String,
        _ status: Int,
        type: String = "application/json",
        start: String,
        separator: String = "",
        end: String = "",
        part: (Int) -> String
    ) {
        self.name = name
        self.status = status
        var headers = Self.usualHeaders
        headers[.contentType] = type
        self.headers = headers
        var text = start + part(0)
        for number in 1... {
            let next = separator + part(number)
            guard text.utf8.count + next.utf8.count + end.utf8.count <= Self.size else { break }
            text += next
        }
        self.body = Array((text + end).utf8)
    }

    private static let usualHeaders: HTTPFields = {
        var headers: HTTPFields = [
            .server: "nginx", .date: "Tue, 04 Nov 2025 10:30:00 GMT", .connection: "keep-alive", .vary: "Accept-Encoding",
            .cacheControl: "no-store", .strictTransportSecurity: "max-age=31536000", .xContentTypeOptions: "nosniff",
            .contentLanguage: "es",
        ]
        for name in ["X-Request-Id", "X-Frame-Options", "Referrer-Policy"] {
            if let field = HTTPField.Name(name) { headers[field] = "01JC5Z8E6T" }
        }
        return headers
    }()

    static let all = contract + frameworks + platforms + others
}

extension ErrorSample {
    private static let contract = [
        ErrorSample(
            "standard",
            400,
            start: #"{"error":{"code":"VALIDATION_INVALID_INPUT","message":"Revisa los campos, por favor: están vacíos.","#
                + #""timestamp":"2025-11-04T10:30:00Z","request_id":"01JC","details":{"validation_errors":["#,
            separator: ",",
            end: "]}}}",
            part: {
                ##"{"field":"e\##($0)","pointer":"#/e\##($0)","code":"VALIDATION_INVALID_EMAIL","message":"No válido"}"##
            }
        ),
        ErrorSample(
            "flat",
            400,
            start: #"{"code":"VALIDATION_INVALID_INPUT","message":"Please check the fields.","request_id":"01JC","#
                + #""timestamp":"2025-11-04T10:30:00Z","details":{"field_errors":{"#,
            separator: ",",
            end: "}}}",
            part: { #""email\#($0)":["No address","Too long"]"# }
        ),
        ErrorSample(
            "RFC 9457, pointers",
            422,
            type: "application/problem+json",
            start:
                #"{"type":"https://docs.example/errors/invalid","title":"Invalid","status":422,"detail":"See errors","errors":["#,
            separator: ",",
            end: "]}",
            part: { ##"{"detail":"must be a positive integer","pointer":"#/items/\##($0)/age"}"## }
        ),
    ]

    private static let frameworks = [
        ErrorSample(
            "FastAPI, list",
            422,
            start: #"{"detail":["#,
            separator: ",",
            end: "]}",
            part: { #"{"type":"missing","loc":["body","items",\#($0),"name"],"msg":"Field required","input":{"id":1}}"# }
        ),
        ErrorSample(
            "Laravel, map",
            422,
            start: #"{"message":"The email field is required. (and 9 more errors)","errors":{"#,
            separator: ",",
            end: "}}",
            part: { #""items.\#($0).email":["The email field is required.","The email must be a valid address."]"# }
        ),
        ErrorSample(
            "Django REST, map",
            400,
            start: "{",
            separator: ",",
            end: "}",
            part: { #""name\#($0)":["This field may not be blank."],"items\#($0)":[{},{"name":["Required."]}]"# }
        ),
        ErrorSample(
            "Spring Boot, list",
            400,
            start: #"{"timestamp":"2025-11-04T10:30:00Z","status":400,"error":"Bad Request","path":"/api/items","errors":["#,
            separator: ",",
            end: "]}",
            part: { #"{"field":"items[\#($0)].name","code":"NotBlank","defaultMessage":"must not be blank"}"# }
        ),
        ErrorSample(
            "JSON:API",
            422,
            type: "application/vnd.api+json",
            start: #"{"errors":["#,
            separator: ",",
            end: "]}",
            part: {
                #"{"status":"422","code":"blank","title":"Invalid","detail":"can't be blank","#
                    + #""source":{"pointer":"/data/attributes/name\#($0)"}}"#
            }
        ),
    ]

    private static let platforms = [
        ErrorSample(
            "Google",
            429,
            start: #"{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"#
                + #""type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"example.org","#
                + #""metadata":{"service":"example.org"}},{"@type":"type.googleapis.com/google.rpc.RetryInfo","#
                + #""retryDelay":"3.5s"},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":["#,
            separator: ",",
            end: "]}]}}",
            part: { #"{"field":"items[\#($0)].name","description":"must be set"}"# }
        ),
        ErrorSample(
            "GitHub",
            422,
            start: #"{"message":"Validation Failed","documentation_url":"https://docs.example/rest","status":"422","errors":["#,
            separator: ",",
            end: "]}",
            part: { #"{"resource":"Issue","field":"title\#($0)","code":"missing_field"}"# }
        ),
        ErrorSample(
            "GraphQL",
            200,
            start: #"{"data":null,"errors":["#,
            separator: ",",
            end: "]}",
            part: {
                #"{"message":"Not allowed","path":["items",\#($0)],"locations":[{"line":1,"column":2}],"#
                    + #""extensions":{"code":"FORBIDDEN"}}"#
            }
        ),
        ErrorSample("AWS", 400, start: "{", separator: ",", end: ##","__type":"a#Throttling","message":"Slow"}"##) {
            #""member\#($0)":{"value":[\#($0),true,null]}"#
        },
    ]

    private static let others = [
        ErrorSample("one long text with escapes", 400, start: #"{"detail":""#, end: #""}"#) {
            #"Prüfe die \"Eingabe\" \u00fcber die L\u00e4nge, Nr. \#($0).\n"#
        },
        ErrorSample("JSON of an unknown server", 500, start: #"{"fault":{"#, separator: ",", end: "}}") {
            #""level\#($0)":{"line":\#($0),"ratio":0.25,"names":["a","b"]}"#
        },
        ErrorSample(
            "page of nginx",
            502,
            type: "text/html",
            start:
                "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n",
            end: "<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>\r\n",
            part: { _ in "<!-- a padding to disable MSIE and Chrome friendly error page -->\r\n" }
        ),
        ErrorSample(
            "page of an unknown server",
            503,
            type: "text/html; charset=utf-8",
            start: "<!DOCTYPE html>\n<html lang=\"es\"><head><title>Algo salió mal</title></head><body>\n",
            end: "</body></html>\n",
            part: { "<p class=\"p\($0)\">Señor, la página está en reparación; vuelva más tarde.</p>\n" }
        ),
        ErrorSample(
            "XML",
            403,
            type: "application/xml",
            start: "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Denied</Message><RequestId>A1</RequestId>",
            end: "</Error>",
            part: { "<Member\($0)>value</Member\($0)>" }
        ),
        ErrorSample("text", 503, type: "text/plain", start: "upstream ") { _ in "connect error or disconnect " },
        ErrorSample("garbage", 500, type: "application/octet-stream", start: "\u{1F}\u{8B}") { "\u{0}\u{80}\u{7F}\($0)" },
    ]
}
