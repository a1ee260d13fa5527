/// What the page's template is filled with. Texts named `html` are markup already.
struct ReferenceContent {
    struct Group {
        let id: String
        let title: String
        let html: String
        let operations: [Operation]
    }

    struct Operation {
        let id: String
        let method: String
        /// `get` or `post`, which is also the style.
        let style: String
        let path: String
        let summary: String
        let paragraphs: [String]
        let needsSession: Bool
        let limits: [String]
        let fieldsTitle: String?
        let fields: [Field]
        let curl: String
        let answers: [Answer]
        let errors: [Code]
    }

    struct Field {
        let name: String
        let isRequired: Bool
        let place: String?
        let words: String
        let html: String?
    }

    struct Answer {
        let status: Int
        let html: String
        let kind: String?
        let example: String?
        let hasMembers: Bool
        let members: [Field]
    }

    struct Code {
        let status: Int
        let code: String
        let link: String
        let summary: String
    }

    struct Form {
        let name: String
        let html: String
        let isOpen: Bool
        let example: String
    }

    let title: String
    let version: String
    let nonce: String
    let css: String
    let script: String
    let introduction: [String]
    let address: String
    let document: String
    let parameters: [Field]
    let forms: [Form]
    let groups: [Group]
}
