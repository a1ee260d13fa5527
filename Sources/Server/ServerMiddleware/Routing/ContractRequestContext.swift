public import Hummingbird

/// A context whose bodies are read by ``RequestReader``: `request.decode(as:context:)` takes JSON and forms, and tells every problem
/// of a body at once, each with its place, for any `Decodable` type.
///
/// ```swift
/// struct AppContext: ContractRequestContext {
///     var coreContext: CoreRequestContextStorage
///     init(source: Source) { coreContext = .init(source: source) }
/// }
/// ```
public protocol ContractRequestContext: RequestContext, Sendable where Decoder == RequestReader {}

extension ContractRequestContext {
    /// The largest body that is read, in bytes: 64 KiB unless the context says otherwise.
    public var maxUploadSize: Int { 65_536 }
    /// Reads bodies up to `maxUploadSize`.
    public var requestDecoder: RequestReader { RequestReader(maximumBodySize: maxUploadSize) }
}

/// The context of an app that keeps nothing of its own about a request.
public struct BasicContractContext: ContractRequestContext {
    public var coreContext: CoreRequestContextStorage

    public init(source: Source) {
        coreContext = .init(source: source)
    }
}
