import AccountCore
import SQLiteStores
import Testing

@Suite struct DecoyStoreTests {
    @Test("Decoys are kept over a restart, and every process sees the same")
    func kept() async throws {
        try await withStores { stores in
            let store = SQLiteDecoyStore(stores.database)
            #expect(try await store.renewDecoys { $0 } == [])
            let spans = [
                DecoySpan(decoy: "costly", start: 0, width: 0.1, reach: 0.3),
                DecoySpan(decoy: "bcrypt", start: 0.3, width: 0.2, reach: 0.2),
            ]
            #expect(try await store.renewDecoys { _ in spans } == spans)
            let other = SQLiteDecoyStore(try stores.reopened().database)
            #expect(try await other.renewDecoys { $0 } == spans)
            let fewer = try await other.renewDecoys { Array($0.dropFirst()) }
            #expect(fewer == [spans[1]])
            #expect(try await store.renewDecoys { $0 } == fewer)
        }
    }

    @Test("Many who renew at once see each other's work")
    func concurrent() async throws {
        try await withStores { stores in
            let stores = [SQLiteDecoyStore(stores.database), SQLiteDecoyStore(try stores.reopened().database)]
            try await withThrowingTaskGroup { group in
                for number in 0..<40 {
                    group.addTask {
                        _ = try await stores[number % 2].renewDecoys {
                            $0 + [DecoySpan(decoy: "\(number)", start: 0, width: 0, reach: 0)]
                        }
                    }
                }
                try await group.waitForAll()
            }
            let decoys = try await stores[0].renewDecoys { $0 }.map(\.decoy)
            #expect(decoys.count == 40 && Set(decoys).count == 40)
        }
    }
}
