import ErrorContract
import ResilientHTTP

extension AccountClient {
    /// The same client, asking for texts in a language.
    func speaking(_ language: Language) -> AccountClient {
        var client = self
        client.api.language = language
        return client
    }
}
