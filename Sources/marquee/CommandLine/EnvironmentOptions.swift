/// Options from the environment, for containers and units: `--sign-key-file FILE` is `MARQUEE_SIGN_KEY_FILE=FILE`.
///
///     MARQUEE_PORT=8080
///     MARQUEE_SOURCE="image.tmdb.org, posters.example.org:8443"        several values
///     MARQUEE_WRITABLE=yes                                             a flag
///
/// An empty variable counts as absent.
struct EnvironmentOptions {
    /// The values by option name, as in `Arguments`.
    private(set) var values: [String: [String]] = [:]

    init(_ options: [Option], _ environment: [String: String]) throws(UsageError) {
        for option in options where !Self.never.contains(option.name) {
            let variable = Self.variable(option.name)
            guard let text = environment[variable], !text.isEmpty, !Self.isLink(text, option) else {
                continue
            }
            if option.value == nil {
                if try Self.isOn(text, variable) { values[option.name] = [""] }
            } else if option.isRepeatable {
                let isSeparator: (Character) -> Bool =
                    option.isText ? \.isNewline : { $0.isWhitespace || $0 == "," }
                let words = text.split(whereSeparator: isSeparator).map(String.init)
                if !words.isEmpty { values[option.name] = words }
            } else {
                values[option.name] = [text]
            }
        }
    }

    /// The variable of an option.
    static func variable(_ name: String) -> String {
        "MARQUEE_" + name.uppercased().replacing("-", with: "_")
    }

    /// Options without a variable. Container images often set `MARQUEE_VERSION` to their own version.
    private static let never: Set<String> = ["help", "version"]

    /// Whether the variable is Kubernetes' own. For a service called `marquee` it sets
    /// `MARQUEE_PORT=tcp://10.0.0.11:80`.
    private static func isLink(_ text: String, _ option: Option) -> Bool {
        option.name == "port" && (text.hasPrefix("tcp://") || text.hasPrefix("udp://"))
    }

    private static func isOn(_ text: String, _ variable: String) throws(UsageError) -> Bool {
        switch text.lowercased() {
        case "1", "true", "yes", "on": return true
        case "0", "false", "no", "off": return false
        default: throw UsageError("\(variable) needs 1, true, yes or on, or else 0, not \"\(text)\"")
        }
    }
}
