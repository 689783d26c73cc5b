/// The possible words at the end of an unfinished command line. They come from the commands' specifications, like the
/// help, and are the same for every shell.
struct Completion: Equatable {
    /// A possible word, and its meaning.
    struct Candidate: Equatable {
        let text: String
        var meaning = ""
    }

    /// The paths that the shell itself completes.
    enum Paths { case none, files, folders }

    private(set) var candidates: [Candidate] = []
    private(set) var paths = Paths.none
    /// Whether a film's id is possible.
    private(set) var wantsFilm = false

    /// - Parameter words: the words after the program's name. The last one is completed, and may be empty.
    init(_ words: [String], _ specifications: [CommandSpecification]) {
        var scan = Scan(specifications)
        for word in words.dropLast() { scan.take(word) }
        let word = words.last ?? ""
        if let option = scan.awaitingValue {
            // Bash gives the equals sign as a word of its own.
            addValues(of: option, behind: "")
        } else if !scan.hasEnded, word.hasPrefix("-"), let sign = word.firstIndex(of: "=") {
            guard let option = scan.option(String(word[..<sign])) else { return }
            addValues(of: option, behind: String(word[...sign]))
            // A shell completes paths only as whole words.
            paths = .none
        } else if !scan.hasEnded, word.hasPrefix("-") {
            candidates = scan.openOptions.map { Candidate(text: "--" + $0.name, meaning: $0.help) }
        } else if let command = scan.command {
            addOperand(of: command, number: scan.operands, specifications)
        } else {
            candidates = specifications.map { Candidate(text: $0.name, meaning: $0.summary) }
            // A catalogue may be in the command's place.
            paths = .files
        }
        candidates = candidates.filter { $0.text.hasPrefix(word == "=" ? "" : word) }
    }

    private mutating func addValues(of option: Option, behind start: String) {
        add(alternatives: option.value ?? "", behind: start)
        candidates += option.choices.map { Candidate(text: start + $0) }
    }

    private mutating func addOperand(
        of command: CommandSpecification, number: Int, _ specifications: [CommandSpecification]
    ) {
        let operands = command.operands.split(separator: " ").map { $0.filter { !"[]".contains($0) } }
        guard let last = operands.last else { return }
        if number < operands.count {
            add(alternatives: operands[number], behind: "")
        } else if last.hasSuffix("...") {
            add(alternatives: last, behind: "")
        }
        if last == "COMMAND|TOPIC" {
            candidates =
                specifications.map { Candidate(text: $0.name, meaning: $0.summary) }
                + Help.topics.map { Candidate(text: $0.name, meaning: $0.summary) }
        }
    }

    /// Adds the alternatives of `FILM|URL|FILE...` or `json|text|off`. A word in small letters is literal.
    private mutating func add(alternatives: String, behind start: String) {
        let alternatives = alternatives.replacing("...", with: "").split(separator: "|").map(String.init)
        for alternative in alternatives {
            switch alternative {
            case "FILM": wantsFilm = true
            case "FILE", "CATALOGUE", "MANIFEST", "LIBRARY.db": paths = .files
            case "DIR", "FOLDER": if paths == .none { paths = .folders }
            case _ where alternative.allSatisfy { $0.isLowercase }:
                candidates.append(Candidate(text: start + alternative))
            default: break
            }
        }
    }
}

/// Parses the words before the completed one, as `Arguments` does, but ignores errors.
private struct Scan {
    private let specifications: [CommandSpecification]
    private(set) var command: CommandSpecification?
    /// The number of operands so far.
    private(set) var operands = 0
    /// The option whose value comes next.
    private(set) var awaitingValue: Option?
    /// Whether no more options may follow.
    private(set) var hasEnded = false
    private var used: Set<String> = []

    init(_ specifications: [CommandSpecification]) { self.specifications = specifications }

    mutating func take(_ word: String) {
        if word == "=", awaitingValue != nil { return }
        if awaitingValue != nil {
            awaitingValue = nil
        } else if !hasEnded, word == "--" {
            hasEnded = true
        } else if !hasEnded, word.hasPrefix("-"), word != "-" {
            guard let option = option(word) else { return }
            used.insert(option.name)
            if option.value != nil, !word.contains("="), word.hasPrefix("--") || word.count == 2 {
                awaitingValue = option
            }
        } else if command == nil {
            // A file in the command's place is the catalogue of the default command.
            command = specifications.first { $0.name == word } ?? specifications.first
        } else {
            operands += 1
        }
    }

    /// The option of a word such as `--name`, `--name=value` or `-oDIR`.
    func option(_ word: String) -> Option? {
        if word.hasPrefix("--") {
            let name = word.dropFirst(2).prefix { $0 != "=" }
            return options.first { $0.name == name }
        }
        return options.first { $0.letter != nil && $0.letter == word.dropFirst().first }
    }

    private var options: [Option] {
        (command?.options ?? specifications.flatMap(\.options)) + CommandSpecification.global
    }

    /// The options that may still be given, the command's own first.
    var openOptions: [Option] {
        ((command ?? specifications.first)?.options ?? []).filter(isOpen)
            + CommandSpecification.global.filter(isOpen)
    }

    private func isOpen(_ option: Option) -> Bool { option.isRepeatable || !used.contains(option.name) }
}
