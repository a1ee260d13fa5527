import AppLinks
import Testing

@Suite struct AssociationMatcherTests {
    @Test("A path is matched as Apple says", arguments: LinkVector.paths)
    func paths(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Case and escapes are matched as Apple says", arguments: LinkVector.characters)
    func characters(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("A query is matched as Apple says", arguments: LinkVector.queries)
    func queries(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("A fragment is matched as Apple says", arguments: LinkVector.fragments)
    func fragments(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Components are tried in Apple's order", arguments: LinkVector.order + LinkVector.defaults)
    func order(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("The old format is read as before iOS 13", arguments: LinkVector.oldFormat)
    func oldFormat(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Variables stand for their values", arguments: LinkVector.variables)
    func variables(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Only https links of the domain are looked up", arguments: LinkVector.hosts)
    func hosts(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }
}
