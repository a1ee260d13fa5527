extension RawHTTP.Answer {
    /// Status, headers and body, without request id, date, and the seconds that pass between two requests.
    var comparable: [String] {
        let head = headerLines.compactMap { line -> String? in
            let name = line.prefix { $0 != ":" }.lowercased()
            if name == "retry-after" { return name }
            // A page's policy names a nonce of its own.
            return ["x-request-id", "date"].contains(name)
                ? nil : line.replacing(/nonce-[^']*/, with: "nonce").replacing(/;t=\d+/, with: ";t")
        }
        let body =
            text
            .replacing(/"request_id":"[^"]*"/, with: "")
            .replacing(/"timestamp":"[^"]*"/, with: "")
            .replacing(/"retry_after":\d+/, with: "retry_after")
            .replacing(/nonce="[^"]*"/, with: "nonce")
        return ["\(status)"] + head + [body]
    }
}
