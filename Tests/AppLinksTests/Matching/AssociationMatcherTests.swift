import AppLinks
import Testing

@Suite struct AssociationMatcherTests {
    @Test("Matches a path by Apple's rules", arguments: LinkVector.paths)
    func paths(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Matches case and escapes by Apple's rules", arguments: LinkVector.characters)
    func characters(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Matches a query by Apple's rules", arguments: LinkVector.queries)
    func queries(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Matches a fragment by Apple's rules", arguments: LinkVector.fragments)
    func fragments(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Tries components in Apple's order", arguments: LinkVector.order + LinkVector.defaults)
    func order(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Reads the old format like systems before iOS 13", arguments: LinkVector.oldFormat)
    func oldFormat(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Replaces variables by their values", arguments: LinkVector.variables)
    func variables(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }

    @Test("Matches only https links of the domain", arguments: LinkVector.hosts)
    func hosts(vector: LinkVector) throws {
        #expect(try vector.outcome() == vector.expected, "\(vector.rule)")
    }
}
