import HTTPTypes
import StrictJSON

/// The families, most specific first. A shape that two of them share belongs to the one with more telling members.
extension ErrorDecoder {
    static func match(_ body: ErrorBody) -> DecodedError? {
        body.completed(family(of: body))
    }

    private static func family(of body: ErrorBody) -> DecodedError? {
        if let answer = body.contractProblem() { return answer }
        if let inner = body.error?.objectValue, let answer = body.errorObject(inner) { return answer }
        if let answer = body.refusal() { return answer }
        return body.platform() ?? body.problem() ?? body.framework() ?? body.list() ?? body.coded() ?? body.text()
    }

    /// A list instead of an object: Django REST framework's texts, or the problems that others keep under `errors`.
    static func match(list: [JSONValue], status: Int, headers: HTTPFields) -> DecodedError? {
        if list.contains(where: { $0.objectValue?.string("message") != nil }) {
            return ErrorBody(status: status, headers: headers, object: ["errors": .array(list)]).completed(nil)
        }
        let texts = list.compactMap(\.stringValue)
        guard !texts.isEmpty, texts.count == list.count else { return nil }
        var answer = DecodedError(status: status, family: .djangoREST)
        answer.message = texts.joined(separator: " ")
        return answer
    }
}

extension ErrorBody {
    /// Shapes that say no in a member of their own, under any status.
    func refusal() -> DecodedError? {
        if let ok = self["ok"], ok == false, let name = error?.stringValue { return slack(name) }
        if let success = self["success"], success == false, let problems = errors?.arrayValue,
            self["result"] != nil || self["messages"] != nil,
            problems.contains(where: { $0.objectValue?["code"]?.intValue != nil })
        {
            return cloudflareAPI(problems)
        }
        return ErrorDecoder.success(object, status: status)
    }

    /// Shapes with a list or a map of problems.
    func list() -> DecodedError? {
        graphQL() ?? jsonAPI() ?? djangoMap()
    }

    /// One line of text, and nothing to tell whose.
    func text() -> DecodedError? {
        var answer = line()
        answer?.violations = (errors?.arrayValue ?? []).compactMap(FieldViolation.init(json:))
        return answer
    }

    private func line() -> DecodedError? {
        if let text = error?.stringValue {
            if text.hasPrefix("Rate limit exceeded") { return answer(.slowAPI, message: error) }
            let isName = !text.isEmpty && text.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) } || text.isUpperSnake
            if isName, text.contains("_") { return answer(.errorText, code: error?.codeValue, message: message) }
            return answer(.errorText, code: code?.codeValue, message: message?.stringValue == nil ? error : message)
        }
        guard message?.stringValue != nil else { return nil }
        return answer(.messageText, code: code?.codeValue, message: message)
    }
}
