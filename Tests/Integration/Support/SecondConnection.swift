import Foundation
import GRDB

@testable import AccountServer
@testable import HoldfastCommand

extension DatabaseQueue {
    /// Opens a separate connection to a server's database, like another process. The server writes too, so the connection waits for its
    /// turn. It may hold a transaction open.
    convenience init(beside server: HoldfastServer) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.allowsUnsafeTransactions = true
        try self.init(path: server.accounts.stores.folder.database.path, configuration: configuration)
    }
}
