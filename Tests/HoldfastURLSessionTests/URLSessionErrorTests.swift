import Foundation
import ResilientHTTP
import Testing

@testable import HoldfastURLSession

@Suite struct URLSessionErrorTests {
    @Test("Reports that nothing was sent if the system or the client refused to send")
    func neverSent() {
        let expected: [(URLError.Code, TransportError.Code)] = [
            (.dataNotAllowed, .noInternet), (.internationalRoamingOff, .noInternet), (.callIsActive, .noInternet),
            (.appTransportSecurityRequiresSecureConnection, .invalidRequest), (.serverCertificateHasBadDate, .untrusted),
            (.serverCertificateHasUnknownRoot, .untrusted), (.serverCertificateNotYetValid, .untrusted),
        ]
        for (code, meaning) in expected {
            let error = TransportError(urlSession: URLError(code))
            #expect(error.code == meaning && !error.wasSent, "\(code.rawValue)")
            // After the head of a response, the request was certainly sent.
            #expect(TransportError(urlSession: URLError(code), isReceiving: true).wasSent, "\(code.rawValue)")
        }
    }
}
