import FilmBrowser
import FilmSources
import Films
import FoundationEssentials
import SystemSupport
import HTTPSemantics

/// A parsed command line. Options may be anywhere. `--name=value` equals `--name value`, `-oDIR` equals `-o DIR`, and
/// every word after `--` is an operand.
struct Arguments: Sendable {
    private(set) var command: CommandSpecification
    /// Whether the user named the command; false if it is the default.
    let isCommandNamed: Bool
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    /// Where an option comes from that the command line does not give, for people: `MARQUEE_PORT`, `…/config:3`.
    private(set) var origins: [String: String] = [:]

    /// The options that the configuration file gives.
    private var fromFile: Set<String> = []
    /// The keys and the colours of the browser, from the configuration file.
    private(set) var keys = BrowserKeys()
    private(set) var colours = BrowserColours()
    /// Why the configuration file was left out; nil if it was not.
    private(set) var fileProblem: String?

    /// Parses a command line. The default command is the first of `commands`. A file in the command's place is the
    /// catalogue.
    /// - Parameters:
    ///   - commands: Default: all commands of the program.
    ///   - environment: gives options that the command line does not, if the command's specification allows it.
    ///   - file: gives options that neither gives. Default: none.
    init(
        _ words: [String], commands: [CommandSpecification] = CommandSpecification.all,
        environment: [String: String] = [:],
        file: () throws(UsageError) -> ConfigurationFile? = { () throws(UsageError) in nil }
    ) throws(UsageError) {
        let chosen = try Self.command(in: words, of: commands)
        command = chosen.command
        isCommandNamed = chosen.index != nil && !chosen.isCatalogue
        try read(words, skipping: chosen.index)
        if chosen.isCatalogue, let index = chosen.index {
            if let other = value("catalogue") {
                throw UsageError("\(words[index]) and --catalogue \(other) are two catalogues; name one")
            }
            values["catalogue"] = [words[index]]
        }
        guard !has("help"), !has("version") else { return }
        try checkOperands()
        if command.readsEnvironment {
            for (name, texts) in try EnvironmentOptions(known, environment).values where values[name] == nil {
                values[name] = texts
                origins[name] = EnvironmentOptions.variable(name)
            }
        }
        do throws(UsageError) {
            if let file = try file() { take(file, environment) }
        } catch {
            guard command.worksWithoutFile else { throw error }
            fileProblem = error.description
        }
    }

    /// Takes the options of the configuration file that this command has, and that nothing else gives.
    private mutating func take(_ file: ConfigurationFile, _ environment: [String: String]) {
        (keys, colours) = (file.keys, file.colours)
        for option in known {
            guard let entry = file.entries[option.name], values[option.name] == nil else { continue }
            // `Settings` and the player read some variables themselves.
            let variable = EnvironmentOptions.variable(option.name)
            let isRead = Help.environment.contains { $0.name == variable }
            if isRead, !(environment[variable] ?? "").isEmpty { continue }
            values[option.name] = entry.values
            origins[option.name] = "\(file.path):\(entry.line)"
            fromFile.insert(option.name)
        }
    }

    /// The same command line without the configuration file, which has a wrong value; nil if the file gives no option,
    /// or the command does not work without it.
    func withoutFile(_ problem: UsageError) -> Arguments? {
        guard command.worksWithoutFile, !fromFile.isEmpty else { return nil }
        var arguments = self
        for name in fromFile { (arguments.values[name], arguments.origins[name]) = (nil, nil) }
        arguments.fromFile = []
        arguments.fileProblem = naming(problem).description
        return arguments
    }

    /// The same error, naming the variable or the line of the configuration file if the value came from there.
    func naming(_ error: UsageError) -> UsageError {
        var words = error.description.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        for (index, word) in words.enumerated() where word.hasPrefix("--") {
            let name = String(word.dropFirst(2).prefix { $0.isLetter || $0 == "-" })
            guard let origin = origins[name] else { continue }
            let isVariable = origin == EnvironmentOptions.variable(name)
            words[index] = (isVariable ? origin : "\(origin): \(name)") + word.dropFirst(2 + name.count)
        }
        return UsageError(words.joined(separator: " "))
    }

    /// Whether the option is given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// Whether the command line gives any of the command's own options.
    var hasOwnOption: Bool { command.options.contains { has($0.name) && origins[$0.name] == nil } }

    /// The options that are set, in the order of the help, for a report.
    var given: [Option] { known.filter { has($0.name) } }

    /// The option's value; the last one if there are several.
    func value(_ name: String) -> String? { values[name]?.last }

    /// All values of the option.
    func values(_ name: String) -> [String] { values[name] ?? [] }

    /// The words of all values of the option, which spaces and commas separate.
    func words(_ name: String) -> [String] {
        values(name).flatMap { $0.split { " ,".contains($0) }.map(String.init) }
    }

    /// The option's value as a whole number in a range.
    func number(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let end = range.upperBound == .max && !Self.isTooLarge(text) ? "on" : "to \(range.upperBound)"
            throw UsageError(
                "--\(name) needs a whole number from \(range.lowerBound) \(end), not \"\(text)\"")
        }
        return number
    }

    /// Whether a text is a whole number that is too large for the program.
    private static func isTooLarge(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber } && Int(text) == nil
    }

    /// The option's value as a number of bytes: 1048576, 512K, 32M, 2G (powers of 1024; KiB and KB are equal to K).
    func bytes(_ name: String) throws(UsageError) -> Int? {
        guard let text = value(name) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count).lowercased()
        let shifts = ["": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40]
        let shift = shifts[unit] ?? (unit.hasSuffix("ib") ? shifts[String(unit.dropLast(2))] : nil)
        let shortShift = shift ?? (unit.hasSuffix("b") ? shifts[String(unit.dropLast())] : nil)
        guard let number = Int(digits), let shortShift else {
            throw UsageError("--\(name) needs a number of bytes such as 1048576, 512K or 2G, not \"\(text)\"")
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: 1 << shortShift)
        guard !overflow, product > 0 else {
            throw UsageError("--\(name) needs more than 0 and less than 8 EiB")
        }
        return product
    }

    /// The value of an option that takes one of several words; nil for a word that is none of `Choice`.
    func choice<Choice: RawRepresentable<String>>(_ name: String) throws(UsageError) -> Choice? {
        guard let text = value(name) else { return nil }
        let words = known.first { $0.name == name }?.choices ?? []
        if words.contains(text) { return Choice(rawValue: text) }
        throw UsageError("--\(name) needs one of \(words.joined(separator: ", ")), not \"\(text)\"")
    }

    /// The option's values as networks.
    func networks(_ name: String) throws(UsageError) -> [AddressRange] {
        try values(name).map { text throws(UsageError) in
            guard let network = AddressRange(text) else {
                throw UsageError("--\(name) needs a network such as 192.168.1.0/24, not \"\(text)\"")
            }
            return network
        }
    }

    /// The option's value in seconds, with fractions.
    func seconds(_ name: String) throws(UsageError) -> Double? {
        guard let text = value(name) else { return nil }
        guard let seconds = Double(text), seconds > 0, seconds <= 86_400 else {
            throw UsageError("--\(name) needs seconds, more than 0 and at most 86400, not \"\(text)\"")
        }
        return seconds
    }

    // MARK: Reading

    private static func command(
        in words: [String], of commands: [CommandSpecification]
    ) throws(UsageError) -> (command: CommandSpecification, index: Int?, isCatalogue: Bool) {
        let options = commands.flatMap(\.options) + CommandSpecification.global
        let valued = options.filter { $0.value != nil }
        var index = 0
        while index < words.count, words[index].hasPrefix("-"), words[index] != "-", words[index] != "--" {
            // An option before the command may have a value, which is not the command.
            index += takesNext(words[index], valued) ? 2 : 1
        }
        guard index < words.count, words[index] != "--" else { return (commands[0], nil, false) }
        let word = words[index]
        if let command = commands.first(where: { $0.name == word }) { return (command, index, false) }
        if isCatalogue(word) { return (commands[0], index, true) }
        let isBehindUnknown = words[..<index].contains { before in
            let name = before.dropFirst(2).prefix { $0 != "=" }
            return before.hasPrefix("--") && !options.contains { $0.name == name }
        }
        // The word may be the value of that option, which the reading names.
        if isBehindUnknown { return (commands[0], nil, false) }
        let nearest = Suggestions.nearest(to: word, among: commands.map(\.name), count: 1).first
        throw UsageError(
            "there is no command \"\(word)\""
                + (nearest.map { "; did you mean \"\($0)\"?" } ?? "; see marquee --help"),
            strangeCommand: nearest == nil ? word : nil)
    }

    /// Whether a word in the command's place is a catalogue: it is written as a path, has a catalogue's extension, names a
    /// source of films, or is the name of a file.
    private static func isCatalogue(_ word: String) -> Bool {
        let name = word.lowercased()
        return unsafe word == "-" || word == SampleCatalogue.word || word.contains("/")
            || name.hasSuffix(".json") || name.hasSuffix(".xml")
            || name.hasSuffix(".db") || FilmServers.areNamed(by: word) || access(word, F_OK) == 0
    }

    /// Whether the option `word` takes the next word as its value: `--output DIR` and `-o DIR`, but not `-oDIR`.
    private static func takesNext(_ word: String, _ valued: [Option]) -> Bool {
        if word.hasPrefix("--") { return valued.contains { "--" + $0.name == word } }
        let letters = word.dropFirst()
        let first = letters.firstIndex { letter in valued.contains { $0.letter == letter } }
        return first.map { letters.index(after: $0) == letters.endIndex } ?? false
    }

    private mutating func read(_ words: [String], skipping commandIndex: Int?) throws(UsageError) {
        var index = 0
        var onlyOperands = false
        func next() -> String? {
            guard index < words.count else { return nil }
            defer { index += 1 }
            return words[index]
        }
        while let word = next() {
            if index - 1 == commandIndex { continue }
            if onlyOperands || word == "-" || !word.hasPrefix("-") || Self.isNegativeNumber(word) {
                operands.append(word)
            } else if word == "--" {
                onlyOperands = true
            } else if word.unicodeScalars.contains("\u{FFFD}") {
                throw UsageError("\(word) is not UTF-8; choose another name")
            } else if word.hasPrefix("--") {
                let parts = word.dropFirst(2).split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let option = try option(named: String(parts[0]))
                try set(
                    option, to: parts.count > 1 ? String(parts[1]) : option.value == nil ? nil : next() ?? nil
                )
            } else {
                var letters = word.dropFirst()
                while let letter = letters.popFirst() {
                    let option = try option(letter: letter, in: word)
                    if option.value == nil {
                        try set(option, to: nil)
                    } else {
                        try set(option, to: letters.isEmpty ? next() : String(letters))
                        letters = ""
                    }
                }
            }
        }
    }

    /// Whether a word such as `-1` is a number. No option's letter is a digit.
    private static func isNegativeNumber(_ word: String) -> Bool {
        word.dropFirst().first.map { $0.isASCII && $0.isNumber } ?? false
    }

    private mutating func set(_ option: Option, to value: String?) throws(UsageError) {
        if option.value != nil, value == nil {
            throw UsageError("--\(option.name) needs a value: \(option.value ?? "")")
        }
        if option.value == nil, value != nil { throw UsageError("--\(option.name) takes no value") }
        // A catalogue is read by its address too, which carries all bytes.
        if let value, option.name != "catalogue" {
            try CommandLineWords.requireUTF8(value, of: option.name)
        }
        values[option.name, default: []].append(Self.readsInput(option, value) ? "/dev/stdin" : value ?? "")
    }

    /// Whether a value is `-` in place of a file that is read. `--output` writes.
    private static func readsInput(_ option: Option, _ value: String?) -> Bool {
        value == "-" && option.value?.hasPrefix("FILE") == true && option.name != "output"
    }

    private var known: [Option] { command.options + CommandSpecification.global }

    private func option(named name: String) throws(UsageError) -> Option {
        if let option = known.first(where: { $0.name == name }) { return option }
        let nearest = Suggestions.nearest(to: name, among: known.map(\.name), count: 1).first
        throw UsageError(lack("--\(name)") + (nearest.map { "; did you mean --\($0)?" } ?? seeHelp))
    }

    /// `list has no option --x`. A command that the user did not name is not blamed.
    private func lack(_ option: String) -> String {
        isCommandNamed ? "\(command.name) has no option \(option)" : "there is no option \(option)"
    }

    private var seeHelp: String {
        isCommandNamed ? "; see marquee \(command.name) --help" : "; see marquee --help"
    }

    private func option(letter: Character, in word: String) throws(UsageError) -> Option {
        if let option = known.first(where: { $0.letter == letter }) { return option }
        throw UsageError(lack("-\(letter)") + seeHelp)
    }

    private func checkOperands() throws(UsageError) {
        if operands.count < command.operandCount.lowerBound {
            throw UsageError("\(command.name) needs \(command.operands); see marquee \(command.name) --help")
        }
        if operands.count > command.operandCount.upperBound {
            let word = operands[command.operandCount.upperBound]
            let readsFilms = ["list", "browse", "doctor"].contains(command.name)
            let advice: String
            if readsFilms, !has("catalogue"), Self.isCatalogue(word) {
                advice =
                    "for the file, write marquee \(command.name) --catalogue \(word), or marquee \(word)"
            } else if command.name == "list" {
                let film = CommandLineWords.quoted(word)
                advice =
                    "to find it, write marquee list --search \(film); to see a film, marquee show \(film)"
            } else {
                advice = "see marquee \(command.name) --help"
            }
            throw UsageError("\(command.name) does not take \"\(word)\"; " + advice)
        }
    }
}

/// The words of the command line. A word that is not UTF-8 is the path of a file, and becomes its `file:` URL, which
/// keeps all bytes; Swift's own list of arguments replaces the wrong ones.
enum CommandLineWords {
    /// A word as a person writes it in a command of a message.
    static func quoted(_ word: String) -> String { word.contains(" ") ? "'\(word)'" : word }

    /// The words after the program's name.
    static var all: [String] {
        CommandLine.arguments.indices.dropFirst().map { index in
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return "" }
            let bytes = unsafe [UInt8](
                UnsafeBufferPointer(
                    start: UnsafeRawPointer(argument).assumingMemoryBound(to: UInt8.self),
                    count: strlen(argument)))
            return word(bytes, in: folder)
        }
    }

    /// - Parameter folder: the working folder, which a relative path is in.
    static func word(_ bytes: [UInt8], in folder: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // An option with such a value is an error, which names the option.
        if bytes.first == UInt8(ascii: "-") { return String(decoding: bytes, as: UTF8.self) }
        return address(ofPath: bytes, in: folder)
    }

    /// The `file:` URL of the file at a path, also in a working folder whose name is not UTF-8.
    static func address(ofFile path: String) -> String {
        let folder = folder
        if path.hasPrefix("/") || String(validating: folder, as: UTF8.self) != nil {
            return URL(filePath: path).absoluteString
        }
        return address(ofPath: Array((path.hasPrefix("./") ? path.dropFirst(2) : path[...]).utf8), in: folder)
    }

    private static func address(ofPath path: [UInt8], in folder: [UInt8]) -> String {
        let slash = UInt8(ascii: "/")
        let whole = path.first == slash ? path : folder + [slash] + path
        let parts = whole.split(separator: slash, omittingEmptySubsequences: false)
        return "file://" + parts.map { PercentEncoding.encoded(Array($0)) }.joined(separator: "/")
    }

    /// Refuses a word that stands for a path in bytes that are not UTF-8: it would name another file.
    static func requireUTF8(_ word: String, of option: String? = nil) throws(UsageError) {
        guard word.hasPrefix("file:///"), let bytes = PercentEncoding.decoded(word.dropFirst(7).utf8),
            String(validating: bytes, as: UTF8.self) == nil
        else { return }
        let path = String(decoding: bytes, as: UTF8.self)
        throw UsageError((option.map { "--\($0): " } ?? "") + "\(path) is not UTF-8; choose another name")
    }

    /// The working folder in bytes. Foundation replaces the wrong ones.
    private static var folder: [UInt8] {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let isFound = unsafe path.withUnsafeMutableBytes { buffer in
            unsafe getcwd(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count) != nil
        }
        return isFound ? Array(path.prefix { $0 != 0 }) : [UInt8(ascii: ".")]
    }
}
