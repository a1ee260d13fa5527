import Foundation

extension Date {
    /// Returns the time after a duration.
    static func + (date: Date, duration: Duration) -> Date { date.addingTimeInterval(duration / .seconds(1)) }
}
