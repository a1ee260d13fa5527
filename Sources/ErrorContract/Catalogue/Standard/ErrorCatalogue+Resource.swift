extension ErrorCatalogue {
    /// Missing, taken, deleted or foreign things.
    static let resource: [ErrorDefinition] = [
        ErrorDefinition(
            .resourceNotFound,
            family: .resource,
            status: 404,
            summary: "Requested resource does not exist",
            userAction: "Verify resource ID and try again",
            recovery: .dismiss,
            message: LocalizedText(
                en: "We could not find what you were looking for.",
                es: "No encontramos lo que buscabas."
            )
        ),
        ErrorDefinition(
            .resourceAlreadyExists,
            family: .resource,
            status: 409,
            summary: "Resource already exists",
            userAction: "Use existing resource or choose different identifier",
            recovery: .fixFields,
            message: LocalizedText(
                en: "This already exists.",
                es: "Esto ya existe."
            )
        ),
        ErrorDefinition(
            .resourceDeleted,
            family: .resource,
            status: 410,
            summary: "Resource has been deleted",
            userAction: "Cannot access deleted resource",
            recovery: .dismiss,
            message: LocalizedText(
                en: "This has been deleted.",
                es: "Esto fue eliminado."
            )
        ),
        ErrorDefinition(
            .resourceForbidden,
            family: .resource,
            status: 403,
            summary: "Access to resource is forbidden",
            userAction: "Ensure you have proper permissions",
            recovery: .dismiss,
            message: LocalizedText(
                en: "You do not have access to this.",
                es: "No tienes acceso a esto."
            )
        ),
    ]
}
