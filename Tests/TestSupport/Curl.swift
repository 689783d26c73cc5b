/// The program curl, as an independent client.
public enum Curl {
    /// Whether curl is installed. Tests that need it skip with a message otherwise.
    public static let isInstalled = Shell.has("curl")

    /// Curl's output, or an empty text if it cannot start. Blocks.
    /// - Parameter arguments: the arguments in shell syntax.
    public static func output(_ arguments: String) -> String {
        Shell.output("curl --silent --noproxy '*' --max-time 600 \(arguments)")
    }
}
