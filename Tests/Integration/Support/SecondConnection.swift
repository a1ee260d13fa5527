import Foundation
import GRDB

@testable import AccountServer
@testable import HoldfastCommand

extension DatabaseQueue {
    /// A connection of its own to a server's database, as another process has it. The server writes too, so it waits for its turn; it may
    /// hold a transaction open.
    convenience init(beside server: HoldfastServer) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.allowsUnsafeTransactions = true
        try self.init(path: server.accounts.stores.folder.database.path, configuration: configuration)
    }
}
