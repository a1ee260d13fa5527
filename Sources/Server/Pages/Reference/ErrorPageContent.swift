/// What the template of the error pages is filled with: all codes, one code, or that there is none.
struct ErrorPageContent {
    struct Link {
        let name: String
        let address: String
        var status = 0
        var summary = ""
    }

    struct Family {
        let name: String
        let codes: [Link]
    }

    struct Message {
        let language: String
        let text: String
    }

    struct Code {
        let name: String
        let status: Int
        let summary: String
        let userAction: String
        let documentation: String?
        let retry: String
        let retryMeaning: String
        let recovery: String
        let recoveryMeaning: String
        let since: String
        let reveals: String
        let messages: [Message]
        let example: String
    }

    struct Missing {
        let name: String
        let closest: Link?
    }

    let title: String
    let app: String
    let nonce: String
    let css: String
    /// The address of the page of all codes.
    let all: String
    var count: Int?
    var families: [Family] = []
    var code: Code?
    var missing: Missing?
}
