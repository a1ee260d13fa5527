import ErrorContract
import Foundation
import HTTPTypes

extension RawHTTP.Answer {
    /// The fields of the head.
    var fields: HTTPFields {
        var fields = HTTPFields()
        for line in headerLines {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2, let name = HTTPField.Name(String(halves[0])) else { continue }
            fields.append(HTTPField(name: name, value: halves[1].trimmingCharacters(in: .whitespaces)))
        }
        return fields
    }

    /// The seconds of `Retry-After`.
    var retryAfter: Int? { self["Retry-After"].flatMap { Int($0) } }

    /// Returns the delay of `Retry-After` in words. A limit per hour has the delay "1 hour" in its first minute, and then "59 minutes".
    func retryPhrase(in language: Language = .english) -> String? {
        retryAfter.map { WaitPhrase(.seconds($0)).text.text(in: language) }
    }

    /// Returns whether `Retry-After` is the rest of a window. The rest depends on the time that the test has taken.
    /// - Parameters:
    ///   - window: The length of the window in seconds.
    ///   - begin: An instant before the first request that the window counts.
    func hasDelay(of window: Int, since begin: ContinuousClock.Instant) -> Bool {
        let passed = Int(begin.duration(to: .now).components.seconds) + 1
        return retryAfter.map { (window - passed...window).contains($0) } ?? false
    }

    /// The error that this library's client decodes from the response.
    var decoded: DecodedError {
        ErrorDecoder().decode(status: status, headers: fields, body: body, now: Date())
    }
}
