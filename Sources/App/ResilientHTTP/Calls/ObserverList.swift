/// The closures of the objects that observe a session or the connectivity of the device.
///
/// The list doesn't retain the objects. When an object registers a closure, the list removes the closures of objects that were released.
/// The list therefore doesn't grow if short-lived objects register one after another.
struct ObserverList<Body: Sendable>: Sendable {
    private var entries: [ObjectIdentifier: (isAlive: @Sendable () -> Bool, body: Body)] = [:]

    /// The closures, in any order. The closure of a released object must do nothing.
    var bodies: [Body] { entries.values.map(\.body) }
    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// Registers a closure. A new closure of the same object replaces the earlier closure. O(number of objects).
    mutating func add(_ body: Body, of object: some AnyObject & Sendable) {
        entries = entries.filter { $0.value.isAlive() }
        entries[ObjectIdentifier(object)] = (isAlive: { [weak object] in object != nil }, body: body)
    }
}
