import AccountCore
import ErrorContract
import ServerMiddleware
import StrictJSON

/// Runs domain code and translates its refusals into the contract.
func translatingDomainErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as AccountError {
        throw ContractError(error)
    } catch let error as StoreFailure {
        throw ContractError(error)
    }
}

extension ContractError {
    /// The contract's error for whatever domain code threw; a surprise is an internal error.
    init(domain error: any Error) {
        switch error {
        case let error as ContractError: self = error
        case let error as AccountError: self.init(error)
        case let error as StoreFailure: self.init(error)
        default: self.init(.serverInternalError, underlying: error)
        }
    }
}

extension ContractError {
    init(_ error: StoreFailure) {
        let code: ErrorCode = error.isBusy ? .serverServiceUnavailable : .serverDatabaseError
        self.init(code, retryAfter: error.isBusy ? .seconds(1) : nil, underlying: error)
    }

    init(_ error: AccountError) {
        self.init(error.code, message: error.weaknesses.first?.message ?? error.message, retryAfter: error.retryAfter)
        if !error.weaknesses.isEmpty {
            details["reasons"] = .array(error.weaknesses.map { .string($0.name) })
        }
    }
}
