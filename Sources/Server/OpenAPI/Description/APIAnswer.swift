import ErrorContract
import StrictJSON

/// An answer that is no error of the contract.
struct APIAnswer: Sendable {
    /// What stands in the body.
    struct Content: Sendable {
        let mediaType: String
        let schema: Schema
        let example: JSONValue?

        static func json(_ schema: NamedSchema, example: JSONValue) -> Content {
            Content(mediaType: "application/json", schema: .named(schema), example: example)
        }

        static let page = Content(mediaType: "text/html", schema: .text(), example: nil)
    }

    /// An operation that goes on with what this answer holds.
    struct Link: Sendable {
        let name: String
        let operationID: String
        /// Members of the next request, as runtime expressions (OpenAPI 3.1 §4.8.20.4).
        let request: JSONObject
        let about: String
    }

    let status: Int
    let about: Prose
    var contents: [Content] = []
    var headers: [APIHeader] = []
    var links: [Link] = []
    /// Whether the body speaks a language, which `Content-Language` then names.
    var isLocalized = false

    init(_ status: Int, _ about: Prose, _ contents: Content...) {
        self.status = status
        self.about = about
        self.contents = contents
    }

    /// The answer with a page in the reader's language.
    static func page(_ status: Int, _ about: Prose) -> APIAnswer {
        APIAnswer(status, about, .page).with { $0.isLocalized = true }
    }

    /// The same answer with further members set.
    func with(_ change: (inout APIAnswer) -> Void) -> APIAnswer {
        var copy = self
        change(&copy)
        return copy
    }
}
