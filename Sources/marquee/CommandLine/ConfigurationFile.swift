import FilmBrowser
import Films
import SystemSupport

/// Options that hold for every run, from `marquee/config` in `$XDG_CONFIG_HOME`, or in `~/.config`. Each line has an
/// option's own name and its value; `#` begins a comment:
///
///     catalogue ~/films/films.db
///     timeout = 30
///     no-disk-cache
///     key-seen = m
///     color-found = magenta
///
/// `key-NAME` sets the keys of a command of the browser, `color-NAME` one of its colours.
/// A command takes the options that it has; those of other commands are skipped. The environment wins over the file, and
/// the command line over both.
struct ConfigurationFile: Sendable {
    /// One option's values, and the line of the last one.
    struct Entry: Sendable {
        fileprivate(set) var values: [String]
        fileprivate(set) var line: Int
    }

    /// The file's path.
    let path: String
    /// By option name.
    private(set) var entries: [String: Entry] = [:]
    /// The keys and the colours of the browser.
    private(set) var keys = BrowserKeys()
    private(set) var colours = BrowserColours()

    /// Where the file is looked for.
    static var standardPath: String {
        UserFolder.path(variable: "XDG_CONFIG_HOME", standard: ".config") + "/marquee/config"
    }

    /// The user's file, for the options of every command; nil if there is none.
    static func standard() throws(UsageError) -> ConfigurationFile? {
        try ConfigurationFile(
            known: CommandSpecification.global + CommandSpecification.all.flatMap(\.options))
    }

    /// Reads the file. Nil if there is none.
    /// - Parameter known: the options of all commands.
    /// - Throws: `UsageError` with the line for an option that no command has, for a flag with a value that is neither
    ///   yes nor no, and for a missing value; or if the file cannot be read.
    init?(path: String = standardPath, known: [Option]) throws(UsageError) {
        self.path = path
        let bytes: [UInt8]
        let status: FileStatus
        do throws(FileFault) {
            status = try FileCalls().status(ofPath: path, followsLinks: true)
            // The content of a pipe or a device may never come, or never end.
            bytes = status.isFile ? try FileCalls().contents(ofPath: path) : []
        } catch {
            if error.isAbsence { return nil }
            throw UsageError("\(path): it cannot be read: \(error)")
        }
        guard status.isFile else {
            let kind = status.isFolder ? "a folder" : "a pipe or a device"
            throw UsageError("\(path): it must be a text file, and it is \(kind)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("\(path): it is not text in UTF-8")
        }
        let options = Dictionary(known.filter(\.isForEveryRun).map { ($0.name, $0) }) { first, _ in first }
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            try read(line, number: index + 1, options)
        }
    }

    private mutating func read(_ line: Substring, number: Int, _ options: [String: Option]) throws(UsageError)
    {
        let line = line.trimmed
        guard let first = line.first, first != "#" else { return }
        let word = line.prefix { !$0.isWhitespace && $0 != "=" }
        var value = line.dropFirst(word.count).trimmed
        if value.first == "=" { value = value.dropFirst().trimmed }
        let name = String(word.hasPrefix("--") ? word.dropFirst(2) : word)
        if try readLook(name, String(Self.unquoted(value)), number) { return }
        guard let option = options[name] else {
            let nearest =
                Option.onlyTyped.contains(name)
                ? nil : Suggestions.nearest(to: name, among: options.keys.sorted(), count: 1).first
            throw UsageError(
                "\(path):\(number): no command has an option \(name)"
                    + (nearest.map { "; did you mean \($0)?" } ?? ""))
        }
        if option.value == nil {
            guard let isOn = value.isEmpty ? true : Option.isOn(String(value)) else {
                throw UsageError(
                    "\(path):\(number): \(name) takes no value, or else yes or no, not \"\(value)\"")
            }
            return entries[name] = isOn ? Entry(values: [""], line: number) : nil
        }
        if value.isEmpty {
            throw UsageError("\(path):\(number): \(name) needs a value: \(option.value ?? "")")
        }
        let text = Self.homed(Self.unquoted(value), option)
        let before = option.isRepeatable ? entries[name]?.values ?? [] : []
        entries[name] = Entry(values: before + [text], line: number)
    }

    /// Reads a key or a colour of the browser; false for another line.
    private mutating func readLook(_ name: String, _ value: String, _ number: Int) throws(UsageError) -> Bool
    {
        try UsageError.naming("\(path):\(number)") {
            if name.hasPrefix("key-") {
                try keys.set(String(name.dropFirst(4)), to: value)
            } else if name.hasPrefix("color-") || name.hasPrefix("colour-") {
                try colours.set(String(name.drop { $0 != "-" }.dropFirst()), to: value)
            } else {
                return false
            }
            return true
        }
    }

    private static func unquoted(_ text: Substring) -> String {
        let isQuoted = text.count >= 2 && text.first == text.last && (text.first == "\"" || text.first == "'")
        return String(isQuoted ? text.dropFirst().dropLast() : text)
    }

    /// A path that begins with `~/` is in the user's home: no shell replaces it here.
    private static func homed(_ text: String, _ option: Option) -> String {
        let isPath = ["FILE", "DIR"].contains { option.value?.contains($0) == true }
        guard isPath, text.hasPrefix("~/") else { return text }
        return UserFolder.home + text.dropFirst(1)
    }
}

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
        for option in options where option.isForEveryRun {
            let variable = Self.variable(option.name)
            guard let text = environment[variable], !text.isEmpty, !Self.isLink(text, option) else {
                continue
            }
            if option.value == nil {
                guard let isOn = Option.isOn(text) else {
                    throw UsageError("\(variable) needs 1, true, yes or on, or else 0, not \"\(text)\"")
                }
                if isOn { values[option.name] = [""] }
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

    /// Whether the variable is Kubernetes' own. For a service called `marquee` it sets
    /// `MARQUEE_PORT=tcp://10.0.0.11:80`.
    private static func isLink(_ text: String, _ option: Option) -> Bool {
        option.name == "port" && (text.hasPrefix("tcp://") || text.hasPrefix("udp://"))
    }
}

extension Option {
    /// Options that only a command line has. Container images often set `MARQUEE_VERSION` to their own version.
    fileprivate static let onlyTyped: Set<String> = ["help", "version"]

    fileprivate var isForEveryRun: Bool { !Self.onlyTyped.contains(name) }

    /// Whether a text sets a flag; nil if it says neither yes nor no.
    fileprivate static func isOn(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: nil
        }
    }
}
