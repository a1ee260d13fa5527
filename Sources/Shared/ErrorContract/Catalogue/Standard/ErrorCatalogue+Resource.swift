extension ErrorCode {
    /// Requested resource does not exist. Status 404.
    ///
    /// The client does not retry.
    ///
    /// Returned if no resource exists at a path, or if the caller is not allowed to access it. First check the path and the version of the
    /// API, then the id.
    public static let resourceNotFound = Self("RESOURCE_NOT_FOUND")
    /// Resource already exists. Status 409.
    ///
    /// The client does not retry; the user corrects the input.
    ///
    /// Returned if a resource with the same identifier exists. If the response to an earlier request was lost, the earlier request may have
    /// created the resource. So read the resource before you create another one.
    public static let resourceAlreadyExists = Self("RESOURCE_ALREADY_EXISTS")
    /// Resource has been deleted. Status 410.
    ///
    /// The client does not retry.
    ///
    /// Returned if a resource existed and was deleted permanently. A client removes its copy and must not request it again.
    public static let resourceDeleted = Self("RESOURCE_DELETED")
    /// Access to resource is forbidden. Status 403.
    ///
    /// The client does not retry.
    ///
    /// Returned if the caller is authenticated but is not allowed to perform the request. The server also returns this code for a form that
    /// a page of another site sent. A refresh of the session or a new sign-in of the same user does not help.
    public static let resourceForbidden = Self("RESOURCE_FORBIDDEN")
}

extension ErrorCatalogue {
    /// Resources that are missing, taken, deleted or not accessible.
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
                es: "No encontramos lo que buscabas.",
                he: "לא מצאנו את מה שחיפשת.",
                pt: "Não encontramos o que você procurava.",
                fr: "Nous n’avons pas trouvé ce que vous cherchiez.",
                de: "Wir konnten nicht finden, wonach du gesucht hast."
            ),
            documentation: """
                Returned if no resource exists at a path, or none that the caller may access. Check the path and the version \
                of the API before the id.
                """
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
                es: "Esto ya existe.",
                he: "פריט זה כבר קיים.",
                pt: "Isto já existe.",
                fr: "Cet élément existe déjà.",
                de: "Das gibt es bereits."
            ),
            documentation: """
                Returned if a resource with the same identifier exists. After a lost response it may be the caller's own, so \
                read it before you create another one.
                """
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
                es: "Esto fue eliminado.",
                he: "פריט זה נמחק.",
                pt: "Isto foi excluído.",
                fr: "Cet élément a été supprimé.",
                de: "Das wurde gelöscht."
            ),
            documentation: """
                Returned if a resource existed and was deleted permanently. A client removes its copy and must not request it \
                again.
                """
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
                es: "No tienes acceso a esto.",
                he: "אין לך גישה לפריט זה.",
                pt: "Você não tem acesso a isto.",
                fr: "Vous n’avez pas accès à cet élément.",
                de: "Darauf hast du keinen Zugriff."
            ),
            documentation: """
                Returned if the caller is authenticated but may not perform the request, and to forms that come from a page of \
                another site. To refresh or to sign in again as the same user has no effect.
                """
        ),
    ]
}
