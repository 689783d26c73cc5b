import FilmSources
import TerminalGraphics

/// One option of a command.
struct Option: Sendable {
    /// The long form without its dashes: `output`.
    let name: String
    /// The short form, if there is one.
    var letter: Character?
    /// The placeholder of its value in the help: `DIR`. Nil for a flag.
    var value: String?
    let help: String
    /// The possible values, if `value` does not list them.
    var choices: [String] = []
    /// Whether it may be given several times.
    var isRepeatable = false
    /// Whether a value may contain white space and commas. In the environment, each value then has its own line.
    var isText = false
}

/// The name, operands and options of a command. The parser, the help, the manual page and the completions read it.
struct CommandSpecification: Sendable {
    let name: String
    /// The operands in the help: `FILM`, `[MANIFEST]`.
    var operands = ""
    /// The possible numbers of operands.
    var operandCount = 0...0
    let summary: String
    var examples: [(command: String, meaning: String)] = []
    var options: [Option] = []
    /// Paragraphs of the help after the options.
    var notes: [String] = []
    /// Whether options may also come from the environment (see `EnvironmentOptions`).
    var readsEnvironment = false
    /// Whether it runs without the configuration file if that has a mistake.
    var worksWithoutFile = false

    /// The options of every command.
    static let global: [Option] = [
        Option(
            name: "catalogue", value: "FILE|URL",
            help:
                "the films: JSON, XML, CSV, a feed, a folder, \(FilmServers.examples.joined(separator: ", "))"
                + " (default: the sample)"
        ),
        Option(name: "cache-dir", value: "DIR", help: "the cache folder (default: $XDG_CACHE_HOME/marquee)"),
        Option(name: "cache-size", value: "BYTES", help: "the cache's limit: 512M, 2G, ... (default: 512M)"),
        Option(
            name: "memory-size", value: "BYTES",
            help: "memory for decoded posters while browsing (default: 64M)"),
        Option(name: "no-disk-cache", help: "do not use the cache on disk"),
        Option(
            name: "shared", value: "URL[,read-only]",
            help: "a store that machines share, asked before the origin: http://cache/posters or s3://bucket"),
        Option(
            name: "shared-key-file", value: "FILE",
            help: "the keys that seal the values of --shared, one a line, the same on all machines"),
        Option(
            name: "timeout", value: "S",
            help: "seconds that a transfer may stall "
                + "(default: 10 to connect, 30 for an answer's first byte, else 15)"
        ),
        Option(
            name: "max-time", value: "S",
            help: "seconds that a transfer may take (default: 300)"),
        Option(name: "max-bytes", value: "N", help: "the largest file to load: 32M, ... (default: 32M)"),
        Option(name: "max-pixels", value: "N", help: "the largest picture to decode (default: 500000000)"),
        Option(name: "decode-memory", value: "BYTES", help: "memory for decoding pictures (default: 512M)"),
        Option(
            name: "header", value: "'K: V'",
            help: "a header field to send, never to another origin after a redirect",
            isRepeatable: true, isText: true),
        Option(
            name: "credentials-file", value: "FILE",
            help: "credentials by host, as in MARQUEE_CREDENTIALS; a file that only you can read"),
        Option(
            name: "insecure-http", value: "HOST", help: "allow plain http to this host", isRepeatable: true),
        Option(
            name: "ignore-query", value: "NAME",
            help: "cache addresses without this item of their query: utm_*, X-Amz-*, ...", isRepeatable: true),
        Option(
            name: "cacert", value: "FILE", help: "trust these certificate authorities instead of the system's"
        ),
        Option(
            name: "trust", value: "HOST=FILE|sha256//KEY", help: "trust this host by its certificate or key",
            isRepeatable: true),
        Option(
            name: "min-tls", value: "HOST=1.2|1.3", help: "the oldest TLS for this host (default: 1.2)",
            isRepeatable: true),
        Option(
            name: "cert", value: "HOST=FILE",
            help: "the client's certificate (PEM), shown to this host and no other", isRepeatable: true),
        Option(
            name: "key", value: "HOST=FILE",
            help: "its private key (PEM, without a password), if --cert does not hold it", isRepeatable: true),
        Option(name: "proxy", value: "env|URL|none", help: "go through a proxy (default none)"),
        Option(name: "offline", help: "use only the cache, never the network"),
        Option(name: "json", help: "print JSON, for programs"),
        Option(name: "checksum", help: "add the SHA-256 of every file"),
        Option(
            name: "color", value: "WHEN", help: "colours and pictures: auto, always or never (default: auto)",
            choices: ColourChoice.allCases.map(\.rawValue)),
        Option(
            name: "graphics", value: "HOW",
            help:
                "pictures as kitty, iterm2, sixel, blocks, sextants, ascii or none; auto, the default, asks the terminal",
            choices: ["auto"] + GraphicsMode.allCases.map(\.rawValue)),
        Option(
            name: "player", value: "COMMAND",
            help:
                "the program that plays films while browsing (default: $MARQUEE_PLAYER, else mpv, vlc or xdg-open)"
        ),
        Option(
            name: "no-pager", help: "do not show lists and help that are longer than the terminal in $PAGER"),
        Option(name: "quiet", letter: "q", help: "print only data and errors"),
        Option(name: "verbose", letter: "v", help: "print more on standard error"),
        Option(name: "help", letter: "h", help: "show help"),
        Option(name: "version", letter: "V", help: "show the version"),
    ]
}

/// An invalid command line: exit status 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    /// A word in a command's place that is like no command.
    let strangeCommand: String?

    init(_ description: String, strangeCommand: String? = nil) {
        (self.description, self.strangeCommand) = (description, strangeCommand)
    }

    /// Calls `body`. Its error becomes one that names the place.
    static func naming<Value>(_ place: String, _ body: () throws -> Value) throws(UsageError) -> Value {
        do { return try body() } catch { throw UsageError("\(place): \(error)") }
    }
}

/// Options of several commands.
extension Option {
    static let concurrency = Option(
        name: "concurrency", value: "N", help: "transfers at once (default: 32)")
    static let perHost = Option(
        name: "per-host", value: "N", help: "transfers at once to one host (default: 6)")
    static let anyContent = Option(name: "any-content", help: "accept files that are not images")

    /// `--size`: for the commands that print pictures.
    static let size = Option(
        name: "size", letter: "s", value: "COLUMNS[xROWS]",
        help: "a picture's size in cells, also in a pipe (default: the terminal's, or $COLUMNS and $LINES)")
}
