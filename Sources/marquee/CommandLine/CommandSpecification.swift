import TerminalGraphics

/// One option a command takes.
struct Option: Sendable {
    /// The long form without its dashes: `output`.
    let name: String
    /// The one letter that stands for it, if there is one.
    var letter: Character?
    /// What its value is, for the help: `DIR`. Nil for a flag.
    var value: String?
    let help: String
    /// The values there are, where `value` does not list them.
    var choices: [String] = []
    /// Whether it may be given more than once.
    var isRepeatable = false
    /// Whether white space and commas may be part of a value: in the environment several values stand on a line each then.
    var isText = false
}

/// What a command is called, takes and does. The parser and the help both read it.
struct CommandSpecification: Sendable {
    let name: String
    /// The operands as the help shows them: `FILM`, `[MANIFEST]`.
    var operands = ""
    /// How many operands it takes.
    var operandCount = 0...0
    let summary: String
    var examples: [(command: String, meaning: String)] = []
    var options: [Option] = []
    /// Paragraphs of the help behind the options.
    var notes: [String] = []
    /// Whether its options may come from the environment too, as `EnvironmentOptions` reads them.
    var readsEnvironment = false

    /// Options every command takes.
    static let global: [Option] = [
        Option(
            name: "catalogue", value: "FILE|URL",
            help: "the films: JSON or XML (default: the sample catalogue)"),
        Option(name: "cache-dir", value: "DIR", help: "the cache folder (default: $XDG_CACHE_HOME/marquee)"),
        Option(name: "cache-size", value: "BYTES", help: "the cache's limit: 512M, 2G, ... (default: 512M)"),
        Option(
            name: "memory-size", value: "BYTES",
            help: "what decoded posters may take of memory while browsing (default: 64M)"),
        Option(name: "no-disk-cache", help: "keep nothing on disk and read nothing from the cache"),
        Option(
            name: "timeout", value: "S", help: "how long a transfer may stand still, in seconds (default: 15)"
        ),
        Option(
            name: "max-time", value: "S",
            help: "how long a transfer may take in all, in seconds (default: 300)"),
        Option(name: "max-bytes", value: "N", help: "the largest file taken: 32M, ... (default: 32M)"),
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
        Option(name: "offline", help: "use what is cached, never the network"),
        Option(name: "json", help: "output for programs"),
        Option(name: "checksum", help: "give the SHA-256 of every file too"),
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
            help: "what plays a film from its page while browsing: mpv, ... (default: $MARQUEE_PLAYER)"),
        Option(name: "quiet", letter: "q", help: "say nothing but errors"),
        Option(name: "verbose", letter: "v", help: "say more on standard error"),
        Option(name: "help", letter: "h", help: "show help"),
        Option(name: "version", letter: "V", help: "show the version"),
    ]
}

/// A command line that cannot be obeyed: exit status 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
