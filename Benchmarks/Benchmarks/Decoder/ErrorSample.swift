import HTTPTypes

/// An error answer with a body of 1 KB.
struct ErrorSample {
    let name: String
    let status: Int
    let headers: HTTPFields
    let body: [UInt8]

    static let size = 1_024

    /// An answer whose body is filled up with repetitions of a part to about ``size`` bytes.
    private init(
        _ name: String,
        status: Int,
        type: String = "application/json",
        start: String,
        part: String,
        separator: String = "",
        end: String
    ) {
        let room = Self.size - start.utf8.count - end.utf8.count + separator.utf8.count
        let count = max(1, room / (part.utf8.count + separator.utf8.count))
        self.name = name
        self.status = status
        self.headers = [.contentType: type, .date: "Tue, 04 Nov 2025 10:30:00 GMT"]
        self.body = Array((start + Array(repeating: part, count: count).joined(separator: separator) + end).utf8)
    }

    static let all = [
        ErrorSample(
            "standard, fields",
            status: 400,
            start:
                #"{"error":{"code":"VALIDATION_INVALID_INPUT","message":"Please check the fields.","details":{"validation_errors":["#,
            part: ##"{"field":"email","pointer":"#/email","code":"VALIDATION_INVALID_EMAIL","message":"No address"}"##,
            separator: ",",
            end: #"]},"timestamp":"2025-11-04T10:30:00Z","request_id":"01JC"}}"#
        ),
        ErrorSample(
            "RFC 9457, pointers",
            status: 422,
            type: "application/problem+json",
            start:
                #"{"type":"https://docs.example/errors/invalid","title":"Invalid","status":422,"detail":"See errors","errors":["#,
            part: ##"{"detail":"must be a positive integer","pointer":"#/items/1/age"}"##,
            separator: ",",
            end: "]}"
        ),
        ErrorSample(
            "FastAPI, list",
            status: 422,
            start: #"{"detail":["#,
            part: #"{"type":"missing","loc":["body","items",0,"name"],"msg":"Field required","input":{"id":1}}"#,
            separator: ",",
            end: "]}"
        ),
        ErrorSample(
            "Laravel, map",
            status: 422,
            start: #"{"message":"The email field is required. (and 9 more errors)","errors":{"#,
            part: #""items.0.email":["The email field is required.","The email must be a valid address."]"#,
            separator: ",",
            end: "}}"
        ),
        ErrorSample(
            "Django REST, map",
            status: 400,
            start: "{",
            part: #""email":["This field may not be blank."],"items":[{},{"name":["This field is required."]}]"#,
            separator: ",",
            end: "}"
        ),
        ErrorSample(
            "Google",
            status: 429,
            start:
                #"{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED","domain":"example.org","metadata":{"service":"example.org","quota":"read"}},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"},"#,
            part:
                #"{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Quota","url":"https://example.org/quota"}]}"#,
            separator: ",",
            end: "]}}"
        ),
        ErrorSample(
            "one long text with escapes",
            status: 400,
            start: #"{"detail":""#,
            part: #"Prüfe die \"Eingabe\" \u00fcber die L\u00e4nge.\n"#,
            end: #""}"#
        ),
        ErrorSample(
            "HTML page",
            status: 502,
            type: "text/html",
            start:
                "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n",
            part: "<!-- a padding to disable MSIE and Chrome friendly error page -->\r\n",
            end: "<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>\r\n"
        ),
        ErrorSample(
            "HTML page of nobody",
            status: 503,
            type: "text/html; charset=utf-8",
            start: "<!DOCTYPE html>\n<html lang=\"es\"><head><title>Algo salió mal</title></head><body>\n",
            part: "<p class=\"lead\">Señor, la página está en reparación; vuelva más tarde.</p>\n",
            end: "</body></html>\n"
        ),
        ErrorSample(
            "garbage",
            status: 500,
            type: "application/octet-stream",
            start: "\u{1F}\u{8B}",
            part: "\u{0}\u{80}\u{7F}x",
            end: ""
        ),
        ErrorSample("text", status: 503, type: "text/plain", start: "upstream ", part: "connect error or disconnect ", end: ""),
    ]
}
