package import CoreMetrics

extension Counter {
    /// Returns a counter for each case of an enumeration. So each counter exists before its first event.
    /// - Parameters:
    ///   - label: The label of all counters.
    ///   - dimension: The name of the dimension whose value is the raw value of the case.
    ///   - others: Further dimensions of all counters.
    ///   - factory: Creates the counters.
    package static func each<Key: CaseIterable & Hashable & RawRepresentable<String>>(
        _ label: String,
        by dimension: String,
        _ others: [(String, String)] = [],
        factory: any MetricsFactory
    ) -> [Key: Counter] {
        let pairs = Key.allCases.map { key in
            (key, Counter(label: label, dimensions: [(dimension, key.rawValue)] + others, factory: factory))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}
