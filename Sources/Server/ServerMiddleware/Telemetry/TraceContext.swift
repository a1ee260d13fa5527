import ErrorContract
import HTTPTypes
public import Hummingbird
public import Instrumentation
import Logging

/// The trace of a request and the current span in it ([W3C Trace Context](https://www.w3.org/TR/trace-context/)).
///
/// ``TraceContextMiddleware`` sets the trace for each request, and ``TraceContextInstrument`` forwards the trace to other services.
///
/// ```swift
/// if let trace = ServiceContext.current?.traceContext { print(trace.traceID, trace.child().traceparent) }
/// ```
public struct TraceContext: Hashable, Sendable {
    /// The id of the trace: 32 lowercase hexadecimal digits, not all zero.
    public let traceID: String
    /// The id of the span: 16 lowercase hexadecimal digits, not all zero.
    public let spanID: String
    /// Whether the caller may have recorded the trace.
    public let isSampled: Bool

    /// Parses a `traceparent` strictly. If the version of the value is later than 00, the initializer reads only the part that version 00
    /// defines.
    /// - Parameter traceparent: The value of the header.
    /// - Returns: The trace; `nil` if the W3C recommendation doesn't allow the value.
    public init?(traceparent: String) {
        let bytes = Array(traceparent.utf8)
        guard bytes.count >= 55, bytes.count <= 512, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash,
            let version = Self.hex(bytes[0..<2]), version != "ff", version == "00" ? bytes.count == 55 : true,
            bytes.count == 55 || bytes[55] == Self.dash,
            let trace = Self.hex(bytes[3..<35]), let span = Self.hex(bytes[36..<52]), let flags = Self.hex(bytes[53..<55]),
            trace.contains(where: { $0 != "0" }), span.contains(where: { $0 != "0" }), let number = UInt8(flags, radix: 16)
        else { return nil }
        (traceID, spanID, isSampled) = (trace, span, number & 1 == 1)
    }

    /// Creates a trace from valid ids.
    private init(traceID: String, spanID: String, isSampled: Bool) {
        (self.traceID, self.spanID, self.isSampled) = (traceID, spanID, isSampled)
    }

    /// Starts a new trace, which is not sampled. The ids of the trace are unique but not secret.
    public static func new() -> TraceContext {
        let (high, low) = UniqueNumbers.next()
        return TraceContext(traceID: digits(max(1, high), low), spanID: newSpan(), isSampled: false)
    }

    /// Returns a new span of the same trace, with the same `isSampled`. Use a new span for each outgoing request.
    public func child() -> TraceContext { TraceContext(traceID: traceID, spanID: Self.newSpan(), isSampled: isSampled) }

    /// The value of the `traceparent` field, in version 00.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    private static let dash = UInt8(ascii: "-")

    /// Returns a new id of a span, not all zero.
    private static func newSpan() -> String { digits(max(1, UniqueNumbers.next().0)) }

    /// Formats numbers as 16 hexadecimal digits each.
    private static func digits(_ numbers: UInt64...) -> String {
        String(unsafeUninitializedCapacity: 16 * numbers.count) { text in
            for (index, number) in numbers.enumerated() {
                text.write(number, digits: 16, at: 16 * index)
            }
            return 16 * numbers.count
        }
    }

    /// Returns lowercase hexadecimal digits as text; `nil` for any other bytes.
    private static func hex(_ bytes: ArraySlice<UInt8>) -> String? {
        let isHex = bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return isHex ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

extension ServiceContext {
    /// The key of the trace in a service context.
    private enum Key: ServiceContextKey {
        typealias Value = TraceContext
        static let nameOverride: String? = "traceparent"
    }

    /// The trace of the current task.
    public var traceContext: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}

/// Adds `traceparent` to outgoing requests of clients that use swift-distributed-tracing, such as AsyncHTTPClient.
///
/// ```swift
/// InstrumentationSystem.bootstrap(TraceContextInstrument())
/// ```
///
/// The instrument records no spans. To send spans to a backend, bootstrap a tracer instead.
public struct TraceContextInstrument: Instrument {
    /// Creates the instrument.
    public init() {}

    /// Reads the `traceparent` of an incoming message into a context. If the value is missing or invalid, the method removes the trace of
    /// the context.
    /// - Parameters:
    ///   - carrier: The message, such as its headers.
    ///   - context: The context that gets the trace.
    ///   - extractor: Reads a value of the message by the name of the value.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context.traceContext = extractor.extract(key: "traceparent", from: carrier).flatMap(TraceContext.init)
    }

    /// Writes a child span of the context's trace into an outgoing message, as `traceparent`. If the context has no trace, the message
    /// stays unchanged.
    /// - Parameters:
    ///   - context: The context with the trace.
    ///   - carrier: The message, such as its headers.
    ///   - injector: Writes a value into the message under a name.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        if let trace = context.traceContext { injector.inject(trace.child().traceparent, forKey: "traceparent", into: &carrier) }
    }
}

/// Continues the trace from the `traceparent` of a request. If the request has no valid `traceparent`, or several of them, the middleware
/// starts a new trace.
///
/// Each log line of the request contains the ids (`trace_id`, `span_id`). HTTP clients read the trace from `ServiceContext.current` and
/// forward the trace. If the request had a valid `traceparent`, the response contains the server's span in `traceresponse`.
public struct TraceContextMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Creates the middleware. Add it as the outermost middleware.
    public init() {}

    /// Sets the trace for the task of the request and for its log lines, and passes the request on.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let fields = request.headers[values: .traceparent]
        let given = fields.count == 1 ? TraceContext(traceparent: fields[0]) : nil
        let trace = given?.child() ?? .new()
        var context = context
        context.logger[metadataKey: "trace_id"] = .string(trace.traceID)
        context.logger[metadataKey: "span_id"] = .string(trace.spanID)
        var service = ServiceContext.current ?? .topLevel
        service.traceContext = trace
        var response = try await ServiceContext.withValue(service) { [context] in try await next(request, context) }
        if given != nil { response.headers[.traceresponse] = trace.traceparent }
        return response
    }
}
