import ErrorContract
import StrictJSON

extension OperationGroup {
    /// This description.
    static let reference = OperationGroup(
        "Reference",
        "What you are reading, for people and for programs.",
        [
            APIOperation(
                .get,
                "/openapi.json",
                id: "openAPI",
                "This description as OpenAPI 3.1",
                "For generators, mock servers and tests.",
                answers: [
                    APIAnswer(
                        200,
                        "The document.",
                        .json(
                            NamedSchema(
                                "OpenAPIDocument",
                                .object(
                                    Field("openapi", .constant(.string(OpenAPIDocument.version))),
                                    Field("info", .object()),
                                    Field("paths", .object()),
                                    Field("components", .object())
                                )
                            ),
                            example: ["openapi": .string(OpenAPIDocument.version), "info": [:], "paths": [:], "components": [:]]
                        )
                    )
                ]
            ),
            APIOperation(
                .get,
                "/docs",
                id: "docs",
                "This description as a page",
                "Needs nothing from elsewhere, and no JavaScript.",
                answers: [APIAnswer(200, "The page.", .page)]
            ),
            APIOperation(
                .get,
                "/errors",
                id: "errorCodes",
                "All error codes as a page",
                "By family; each links to its own page.",
                answers: [APIAnswer(200, "The page.", .page)]
            ),
            APIOperation(
                .get,
                "/errors/{code}",
                id: "errorCode",
                "One error code as a page",
                "What the `type` of problem details leads to. For a code that is none there is a page as well.",
                answers: [
                    APIAnswer(200, "The page.", .page),
                    APIAnswer(404, "No such code, as a page for who would not rather have JSON.", .page),
                ]
            ).with {
                $0.parameters = [APIParameter(name: "code", place: .path, schema: .text(), about: "The code.")]
                $0.ownCodes = [.resourceNotFound]
            },
        ]
    )
}
