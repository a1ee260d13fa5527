/// Where the error lab's parts are, below the path that it is mounted at.
public enum LabPath {
    /// Where the lab is mounted unless its server says otherwise. It answers with the lab's page.
    public static let root = "/dev/lab"
    /// Answers as its parameters say, see ``LabAnswer``.
    public static let answer = "/answer"
    /// Lists the scenarios, see ``LabScenario``.
    public static let scenarios = "/scenarios"
    /// Opens a session of the lab's own.
    public static let token = "/token"
    /// Continues a session of the lab's own.
    public static let refresh = "/token/refresh"
    /// Answers to a session of the lab's own only.
    public static let protected = "/protected"
    /// Admits so many requests in a window.
    public static let limited = "/limited"
    /// Tells what a client reads from an answer that it is given.
    public static let read = "/read"
}
