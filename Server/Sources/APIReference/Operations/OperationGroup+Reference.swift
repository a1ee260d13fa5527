import ErrorContract

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
        ]
    )
}
