import ErrorContract
import Foundation
import HTTPTypes

/// 2025-11-04T10:30:00Z
private let now = Date(timeIntervalSince1970: 1_762_252_200)

/// One round of libFuzzer: an answer is read as an error and as a success, and nothing may trap or be invented.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let answer = RawAnswer(UnsafeBufferPointer(start: start, count: count))
    let decoder = ErrorDecoder()
    let error = decoder.decode(status: answer.status, headers: answer.headers, body: answer.body, now: now)
    check(error, status: answer.status)
    let refusal = decoder.refusalInSuccess(status: 200, headers: answer.headers, body: answer.body, now: now)
    if let refusal { check(refusal, status: 200) }
    return 0
}

private func check(_ error: DecodedError, status: Int) {
    if let fault = Soundness.fault(in: error, status: status) { fatalError(fault) }
    let shown = APIError(error).presentation(in: .spanish, now: now)
    guard !shown.title.isEmpty, !shown.message.isEmpty, shown.message.utf8.count <= Soundness.longestText else {
        fatalError("shows \(shown)")
    }
}
