extension RawHTTP.Answer {
    /// Status, headers and body, without request id, date, and values that change with the time between two requests.
    var comparable: [String] {
        let head = headerLines.compactMap { line -> String? in
            let name = line.prefix { $0 != ":" }.lowercased()
            // The delay is also in the text of a refusal, so that the length changes with it.
            if name == "retry-after" || name == "content-length" && status == 429 { return name }
            // Each page has a different nonce in its policy.
            return ["x-request-id", "date"].contains(name)
                ? nil : line.replacing(/nonce-[^']*/, with: "nonce").replacing(/;t=\d+/, with: ";t")
        }
        let body =
            text
            .replacing(/"request_id":"[^"]*"/, with: "")
            .replacing(/"timestamp":"[^"]*"/, with: "")
            .replacing(/"retry_after":\d+/, with: "retry_after")
            .replacing(/\d+ (?:second|minute|hour)s?/, with: "wait")
            .replacing(/nonce="[^"]*"/, with: "nonce")
        return ["\(status)"] + head + [body]
    }
}
