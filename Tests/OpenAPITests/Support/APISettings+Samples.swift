import AccountContract
import ErrorContract
import OpenAPI

extension APISettings {
    /// A server with all features.
    static var everything: APISettings {
        var settings = APISettings(appName: "Crowns", version: "1.2.3")
        settings.limits = [Limit(.resetEmail, quota: 3, window: .seconds(3_600))]
        settings.servesAppleAssociation = true
        settings.servesAndroidLinks = true
        settings.servesDevelopmentRoutes = true
        return settings
    }

    /// A server whose bodies have the form `success`.
    static var wrapped: APISettings {
        var settings = everything
        settings.errorForm = .success
        return settings
    }

    /// A server with blind registration.
    static var blind: APISettings {
        var settings = everything
        settings.registration = .blind
        return settings
    }

    /// A server without registration.
    static var closed: APISettings {
        var settings = everything
        settings.registration = .closed
        return settings
    }

    /// A server in production without apps, behind a path.
    static var production: APISettings {
        var settings = APISettings(appName: "Crowns", version: "1.2.3")
        settings.baseURL = "https://example.com/app"
        settings.minimumPasswordLength = 12
        return settings
    }
}
