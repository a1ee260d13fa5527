import AccountKit
import ErrorContract
import Foundation
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite @MainActor struct ScreenTranslationTests {
    @Test("The screens use an app's own language from the catalog of its client")
    func ownLanguage() async throws {
        let words = Translations(
            Language("it"),
            ["Please fill in all fields": "Compila tutti i campi", "Error": "Errore", "Sign In": "Accedi", "OK": "OK"]
        )
        let url = try #require(URL(string: "https://api.example.com"))
        let api = APIClient(baseURL: url, transport: ScriptedTransport([]), catalogue: .standard.saying(words))
        let model = SignInModel(client: AccountClient(api: api), language: Language("it"))
        await model.submit()
        #expect(model.alert?.message == "Compila tutti i campi")
        #expect(model.alert?.title == "Errore")
        #expect(model.catalogue.text(ContractText.signIn, in: model.language) == "Accedi")
        let reset = ResetPasswordModel(link: nil, client: AccountClient(api: api), language: Language("it"))
        let forgot = reset.makeForgotPasswordModel()
        #expect(reset.catalogue.text(ContractText.errorTitle, in: Language("it")) == "Errore")
        #expect(forgot.catalogue.text(ContractText.errorTitle, in: Language("it")) == "Errore")
    }
}
