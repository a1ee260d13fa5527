import ErrorContract
import Foundation
import Testing
import Timekeeping

/// The texts for calls that the client itself refuses.
@Suite("Calls that the client refuses")
struct LocalRefusalTextTests {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private static func refusal(_ kind: APIError.Kind, by source: LocalHold.Source, wait: Duration?) -> APIError {
        var error = APIError(kind)
        error.retryAfter = wait
        error.hold = wait.map { LocalHold(source, wait: $0) }
        return error
    }

    @Test(
        "A gate closed by a 503, or a circuit, reports an unavailable service and a wait",
        arguments: [LocalHold.Source.gate, .breaker],
        [
            (Duration.seconds(1), "1 segundo", "1 second"), (.seconds(6), "6 segundos", "6 seconds"),
            (.seconds(60), "1 minuto", "1 minute"), (.seconds(3_600), "1 hora", "1 hour"),
        ]
    )
    func unavailable(source: LocalHold.Source, wait: (Duration, String, String)) {
        let error = Self.refusal(.unavailable, by: source, wait: wait.0)
        let spanish = error.presentation(in: .spanish, now: Self.now)
        #expect(spanish.title == "Error")
        #expect(spanish.message == "El servicio no está disponible. Intenta de nuevo en \(wait.1).")
        #expect(spanish.primary == .retryAt(Self.now + Double(wait.0.wholeSecondsRoundedUp)) && spanish.secondary == .dismiss)
        let english = error.presentation(in: .english, now: Self.now)
        #expect(english.message == "The service is unavailable. Try again in \(wait.2).")
        #expect(error.code.rawValue == "SERVICE_UNAVAILABLE_LOCALLY" && error.isHeldLocally && error.isRetryable)
    }

    @Test(
        "The text of an unavailable service has the right plurals in every language",
        arguments: [
            (Language.spanish, "1 segundo", "2 segundos"), (.english, "1 second", "2 seconds"),
            (.hebrew, "שנייה אחת", "שתי שניות"), (.portuguese, "1 segundo", "2 segundos"),
            (.french, "1 seconde", "2 secondes"), (.german, "1 Sekunde", "2 Sekunden"),
        ]
    )
    func plurals(language: Language, one: String, two: String) {
        #expect(ContractText.unavailable(wait: .seconds(1)).text(in: language).contains(one))
        #expect(ContractText.unavailable(wait: .seconds(2)).text(in: language).contains(two))
        #expect(!ContractText.unavailable(wait: nil).text(in: language).contains("{"))
    }

    @Test("A gate closed by a 429 shows the server's limit; an app's quota shows its wait")
    func limits() {
        let gate = Self.refusal(.throttled, by: .gate, wait: .seconds(30))
        #expect(
            gate.presentation(in: .spanish, now: Self.now).message == "Demasiadas solicitudes. Intenta de nuevo en 30 segundos."
        )
        #expect(
            gate.presentation(in: .english, now: Self.now).message == "Too many requests. Please try again in 30 seconds."
        )
        let quota = Self.refusal(.throttled, by: .throttle, wait: .seconds(30))
        #expect(
            quota.presentation(in: .english, now: Self.now).message
                == "Too many requests. Please wait 30 seconds before trying again."
        )
    }

    @Test("A response that closed the gate was sent, a refused call was not")
    func heldLocally() {
        var answered = APIError(.server)
        answered.hold = LocalHold(.gate, wait: .seconds(6))
        #expect(!answered.isHeldLocally)
        #expect(APIError(.throttled).isHeldLocally && APIError(.unavailable).isHeldLocally && !APIError(.timeout).isHeldLocally)
    }
}
