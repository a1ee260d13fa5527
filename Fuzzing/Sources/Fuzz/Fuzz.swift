import Foundation

/// The target of this process, named by the environment variable `FUZZ_TARGET`; its files are in `FUZZ_FOLDER`.
private let target: any FuzzTarget = {
    let environment = ProcessInfo.processInfo.environment
    let name = environment["FUZZ_TARGET"] ?? ""
    guard let type = fuzzTargets[name] else { fatalError("FUZZ_TARGET must be one of \(fuzzTargets.keys.sorted()) (is \(name))") }
    do {
        return try type.init(folder: URL(filePath: environment["FUZZ_FOLDER"] ?? "/tmp", directoryHint: .isDirectory))
    } catch {
        fatalError("the target \(name) can't start: \(error)")
    }
}()

/// One run of libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("\(error)")
    }
    return 0
}
