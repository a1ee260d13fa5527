import Foundation
import NIOCore

/// Why a server could not start, in words that tell its operator what to do.
struct StartFailure: CustomStringConvertible {
    let description: String

    /// - Parameters:
    ///   - host: Where it was to listen, if it was.
    init(_ error: any Error, host: String = "", port: Int = 0) {
        switch error {
        case let failure as OpsListenFailure:
            let reason = (failure.error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(failure.error)"
            description = "OPS_LISTEN \(failure.address) can't be listened on: \(reason)"
        case let error as IOError where error.errnoCode == EADDRINUSE:
            description = "port \(port) of \(host) is in use by another program; choose another with --port"
        case let error as IOError where error.errnoCode == EACCES:
            description = "port \(port) is for the system's services; choose one above 1023 with --port"
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            description = "\(host) is no address of this machine; choose another with --host"
        case let error as CocoaError:
            let underlying = error.underlying as? POSIXError
            let path = error.filePath ?? (error.userInfo[NSURLErrorKey] as? URL)?.path
            let reason = underlying.map { String(cString: strerror($0.code.rawValue)) } ?? "it can't be used as it is"
            description = path.map { "\($0): \(reason)" } ?? error.localizedDescription
        default: description = "\(error)"
        }
    }
}
