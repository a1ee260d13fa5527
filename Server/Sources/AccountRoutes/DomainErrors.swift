import AccountCore
import ErrorContract
import ServerMiddleware

/// Runs domain code and translates its refusals into the contract.
func translatingDomainErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as AccountError {
        throw ContractError(error)
    }
}

extension ContractError {
    init(_ error: AccountError) {
        self.init(error.code, message: error.weaknesses.first?.message ?? error.message, retryAfter: error.retryAfter)
        if !error.weaknesses.isEmpty {
            details["reasons"] = .array(error.weaknesses.map { .string($0.name) })
        }
    }
}
