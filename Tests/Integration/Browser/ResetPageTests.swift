import AccountContract
import AccountKit
import AccountRoutes
import Email
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ResetPageTests {
    @Test(
        "A user resets the password in a browser with and without scripts, LTR and RTL",
        arguments: [
            (Language.english, true), (.english, false), (.spanish, true), (.spanish, false), (.hebrew, true), (.hebrew, false),
        ]
    )
    func wholeWay(language: Language, runsScripts: Bool) async throws {
        try await withServer {
            $0.appScheme = "crowns"
        } _: { server in
            try await WebDriver.run { driver in
                try await driver.browser(language: language, runsScripts: runsScripts) { browser in
                    try await server.register("ana@example.com")
                    let link = try await mailedLink(server, language)
                    let say = { (english: String, spanish: String, hebrew: String) in
                        language == .hebrew ? hebrew : language == .spanish ? spanish : english
                    }
                    try await browser.open(link)
                    try await browser.shows(say("Reset Password", "Restablecer Contraseña", "איפוס סיסמה"), in: "h1")
                    let greeting = say(
                        "Hello Ana, enter your new password",
                        "Hola Ana, ingresa tu nueva contraseña",
                        "שלום Ana, נא להזין סיסמה חדשה"
                    )
                    try await browser.shows(greeting, in: "#reset p")
                    if runsScripts { #expect(try await browser.address == server.url.absoluteString + "/reset-password") }
                    let app = try await browser.attribute("href", of: "#open-app")
                    #expect(app?.hasPrefix("crowns://reset-password?token=") == true)

                    for (password, confirmation, problem) in [
                        (
                            "short", "short",
                            say(
                                "The password must have at least 8 characters",
                                "La contraseña debe tener al menos 8 caracteres",
                                "הסיסמה חייבת לכלול לפחות 8 תווים"
                            )
                        ),
                        (
                            "a good new password", "another new password",
                            say("The passwords do not match", "Las contraseñas no coinciden", "הסיסמאות אינן תואמות")
                        ),
                    ] {
                        try await submit(password, confirmation, in: browser)
                        try await browser.shows(problem, in: "#problem")
                    }
                    try await submit("a good new password", "a good new password", in: browser)
                    try await browser.shows(say("Success!", "¡Éxito!", "הפעולה הצליחה!"), in: "#notice.good h1")
                    let email = try EmailAddress("ana@example.com")
                    _ = try await server.client().signIn(email: email, password: try Password("a good new password"))

                    try await browser.open(link)
                    try await browser.shows(say("Link Expired", "Enlace Expirado", "פג תוקף הקישור"), in: "h1")
                    #expect(try await browser.attribute("value", of: "#email") == "ana@example.com")
                    let mails = try server.server.accounts.mailbox.mails().count
                    try await browser.click("#request .primary")
                    try await browser.shows(say("Check your email", "Revisa tu correo", "נא לבדוק את תיבת האימייל"), in: "h1")
                    #expect(try await server.mails(atLeast: mails + 1).first?.link != nil)
                }
            }
        }
    }

    @Test("The page reads the token from the URL fragment and removes it from there")
    func fragment() async throws {
        try await withServer {
            $0.resetLinkStyle = .fragment
            $0.appScheme = "crowns"
        } _: { server in
            try await WebDriver.run { driver in
                try await server.register("ana@example.com")
                let link = try await mailedLink(server, .english)
                #expect(link.contains("#token="))
                try await driver.browser { browser in
                    try await browser.open(link)
                    try await browser.isShown("#reset-form", soon: true)
                    #expect(try await browser.isShown("#request") == false)
                    #expect(try await browser.isShown("#notice") == false)
                    #expect(try await browser.address == server.url.absoluteString + "/reset-password")
                    #expect(
                        try await browser.attribute("href", of: "#open-app")?.hasPrefix("crowns://reset-password?token=") == true
                    )
                    try await browser.type("a good new password", into: "#new_password")
                    try await browser.type("a good new password", into: "#confirm_password")
                    try await browser.click("#reset-form .primary")
                    try await browser.shows("Success!", in: "#notice.good h1")
                }
                try await driver.browser(runsScripts: false) { browser in
                    try await browser.open(link)
                    #expect(try await browser.isShown("#request"))
                    #expect(try await browser.text("noscript").contains("JavaScript"))
                }
            }
        }
    }

    @Test(
        "The page validates a fragment link at once and replaces an expired one's form",
        arguments: [Language.english, .spanish, .hebrew]
    )
    func expiredFragment(language: Language) async throws {
        try await withServer {
            $0.resetLinkStyle = .fragment
            $0.appScheme = "crowns"
        } _: { server in
            try await server.register("ana@example.com")
            let link = try await mailedLink(server, language)
            let address = try #require(URL(string: link))
            let email = try EmailAddress("ana@example.com")
            _ = try await server.client().confirmReset(
                try ResetLink(address, hosts: ["127.0.0.1"]),
                newPassword: try Password("another horse battery")
            )
            try await WebDriver.run { driver in
                try await driver.browser(language: language) { browser in
                    let title = ContractText.linkExpiredTitle.text(in: language)
                    for used in [link, server.url.absoluteString + "/reset-password#token=unknown&email=ana%40example.com"] {
                        try await browser.open("about:blank")
                        try await browser.open(used)
                        try await browser.shows(title, in: "#notice h1")
                        try await browser.shows(ContractText.linkExpired.text(in: language), in: "#notice p")
                        #expect(try await browser.isShown("#reset") == false)
                        #expect(try await browser.isShown("#open-app") == false)
                        try await browser.shows(ContractText.requestNewLink.text(in: language), in: "#request h2")
                        #expect(try await browser.evaluate("return document.querySelectorAll('#request p').length") == 0)
                        let typed = try await browser.evaluate("return document.getElementById('email').value").stringValue
                        #expect(typed == email.text)
                        #expect(try await browser.evaluate("return document.title").stringValue == "\(title) - Crowns")
                        #expect(try await browser.address == server.url.absoluteString + "/reset-password")
                    }
                    #expect(try await browser.refusals() == [])
                    try await browser.click("#request .primary")
                    let sent = [Language.english: "Check your email", .spanish: "Revisa tu correo"]
                    try await browser.shows(sent[language] ?? "נא לבדוק את תיבת האימייל", in: "h1")
                }
            }
        }
    }

    @Test("An unvalidated fragment link shows the form; without scripts, a new-link hint")
    func unvalidatedFragment() async throws {
        try await withServer {
            $0.resetLinkStyle = .fragment
            $0.limits.policies[.tokenIP] = AccountLimit.tokenIP.policy(1, perSeconds: 3_600)
        } _: { server in
            try await server.register("ana@example.com")
            let link = try await mailedLink(server, .english)
            _ = try await server.post("/api/validate-reset-token/", #"{"token":"used-up"}"#)
            try await WebDriver.run { driver in
                try await driver.browser { browser in
                    try await browser.open(link)
                    try await browser.isShown("#reset-form", soon: true)
                    #expect(try await browser.isShown("#notice") == false)
                }
                try await driver.browser(runsScripts: false) { browser in
                    try await browser.open(link)
                    #expect(try await browser.isShown("#request"))
                    #expect(try await browser.isShown("#notice") == false)
                }
            }
        }
    }

    @Test("Strength meter, match and show/hide follow the input by keyboard alone")
    func meter() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let link = try await mailedLink(server, .english)
            try await WebDriver.run { driver in
                try await driver.browser(width: 1_280) { browser in
                    try await browser.open(link)
                    // Any decimal digit counts, and a letter with its accents counts as one character.
                    for (typed, level) in [("abcdefg\u{661}", "medium"), ("abc1e\u{301}\u{302}\u{303}\u{304}", "weak")] {
                        _ = try await browser.evaluate(
                            "const field = document.getElementById('new_password'); field.value = '\(typed)';"
                                + "field.dispatchEvent(new Event('input'))"
                        )
                        #expect(try await browser.attribute("data-level", of: "#meter") == level)
                    }
                    for (typed, level, text) in [
                        ("abcdefg", "weak", "Weak password"), ("abcdefgH1", "medium", "Medium password"),
                        ("abcdefghijkL1!", "strong", "Strong password"),
                    ] {
                        try await browser.type(typed, into: "#new_password")
                        #expect(try await browser.attribute("data-level", of: "#meter") == level)
                        try await browser.shows(text, in: "#strength")
                    }
                    // Tab: show, confirm, show, submit.
                    try await browser.press("\u{E004}")
                    #expect(try await browser.evaluate("return document.activeElement.className") == "show")
                    try await browser.press("\u{E00D}")
                    #expect(try await browser.attribute("type", of: "#new_password") == "text")
                    #expect(try await browser.attribute("aria-pressed", of: "button.show") == "true")
                    try await browser.press("\u{E004}abc")
                    try await browser.shows("The passwords do not match", in: "#match")
                    try await browser.type("abcdefghijkL1!", into: "#confirm_password")
                    try await browser.shows("The passwords match", in: "#match")
                    try await browser.press("\u{E004}\u{E004}\u{E007}")
                    try await browser.shows("Success!", in: "#notice.good h1")
                }
            }
        }
    }

    @Test("The form can be submitted again after the browser goes back to it")
    func restoredPage() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let link = try await mailedLink(server, .english)
            try await WebDriver.run { driver in
                try await driver.browser { browser in
                    try await browser.open(link)
                    let isDisabled = try await browser.evaluate(
                        """
                        const form = document.getElementById("reset-form"), button = form.querySelector("button[type=submit]");
                        form.addEventListener("submit", event => event.preventDefault());
                        form.elements.new_password.value = form.elements.confirm_password.value = "a good new password";
                        form.requestSubmit();
                        const isDisabled = [button.disabled];
                        window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
                        return [...isDisabled, button.disabled];
                        """
                    )
                    #expect(isDisabled == [true, false])
                }
            }
        }
    }

    @Test("\"This was not me\" confirms, then locks sign-ins until a reset")
    func notMe() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let client = server.client()
            _ = try await client.confirmReset(link, newPassword: try Password("a thief's password"))
            let email = try EmailAddress("ana@example.com")
            _ = try await client.signIn(email: email, password: try Password("a thief's password"))
            let lock = try #require(try await server.mails(atLeast: 2).first?.link?.absoluteString)
            try await WebDriver.run { driver in
                try await driver.browser(language: .spanish) { browser in
                    try await browser.open(lock)
                    try await browser.shows("¿No fuiste tú?", in: "h1")
                    _ = try await client.me()
                    try await browser.click("#freeze-form .primary")
                    try await browser.shows("Tu cuenta está congelada", in: "h1")
                }
            }
            await #expect { try await client.me() } throws: { ($0 as? APIError)?.code == .authSessionExpired }
            await #expect { try await client.signIn(email: email, password: try Password("a thief's password")) } throws: {
                error in
                (error as? APIError)?.code == .authUserSuspended
            }
            let rescue = try await server.resetLink(for: "ana@example.com")
            _ = try await client.confirmReset(rescue, newPassword: try Password("Ana's own password"))
            _ = try await client.signIn(email: email, password: try Password("Ana's own password"))
        }
    }

    private func submit(_ password: String, _ confirmation: String, in browser: Browser) async throws {
        try await browser.type(password, into: "#new_password")
        try await browser.type(confirmation, into: "#confirm_password")
        try await browser.click("#reset-form .primary")
    }

    /// Requests a reset and returns the link in the email.
    private func mailedLink(_ server: TestServer, _ language: Language) async throws -> String {
        let before = try server.server.accounts.mailbox.mails().count
        _ = try await server.client(language).requestPasswordReset(email: try EmailAddress("ana@example.com"))
        return try #require(try await server.mails(atLeast: before + 1).first?.link?.absoluteString)
    }
}
