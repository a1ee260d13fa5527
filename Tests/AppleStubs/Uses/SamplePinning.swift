import CryptoKit
import Foundation
import HoldfastURLSession
import ResilientHTTP
import Security

/// A transport that connects only to servers whose public key has one of these SHA-256 hashes, and which the system trusts as well.
func pinned(to hashes: Set<Data>) -> some HTTPTransport {
    // snippet: task-pinning
    URLSessionTransport { challenge in
        guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        let key = chain?.first.flatMap { SecCertificateCopyKey($0) }
        let bytes = key.flatMap { SecKeyCopyExternalRepresentation($0, nil) } as Data?
        guard let bytes, SecTrustEvaluateWithError(trust, nil), hashes.contains(Data(SHA256.hash(data: bytes)))
        else { return (.cancelAuthenticationChallenge, nil) }
        return (.useCredential, URLCredential(trust: trust))
    }
    // snippet end
}
