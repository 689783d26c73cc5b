import FoundationEssentials
import SystemSupport

/// `marquee completions`: completes command lines in a shell.
enum CompletionsCommand: Command {
    static let specification = CommandSpecification(
        name: "completions", operands: "bash|zsh|fish", operandCount: 0...Int.max,
        summary: "complete commands, options, values and films in a shell",
        examples: [
            ("eval \"$(marquee completions bash)\"", "in ~/.bashrc"),
            ("eval \"$(marquee completions zsh)\"", "in ~/.zshrc, after compinit"),
            ("marquee completions fish | source", "in ~/.config/fish/config.fish"),
        ],
        notes: [
            "At each Tab the shell runs \"marquee completions words -- WORD...\": each line is a candidate, a tab and its "
                + "meaning; :files and :folders ask the shell to complete paths."
        ],
        // A file with a mistake must not fill the line that a shell completes with errors.
        worksWithoutFile: true)

    /// The most films in a list of candidates: a longer list helps nobody.
    private static let mostFilms = 500

    static func run(_ session: Session) async throws -> ExitStatus {
        let words = session.arguments.operands
        switch (words.first, words.count) {
        case ("bash", 1): Output.write(bash, to: STDOUT_FILENO)
        case ("zsh", 1): Output.write(zsh, to: STDOUT_FILENO)
        case ("fish", 1): Output.write(fish, to: STDOUT_FILENO)
        case ("words", _): await complete(Array(words.dropFirst()), session)
        default: throw UsageError("completions needs bash, zsh or fish")
        }
        return .done
    }

    private static func complete(_ words: [String], _ session: Session) async {
        let completion = Completion(words)
        var candidates = completion.candidates
        if completion.wantsFilm { candidates += await films(words, session.interruption) }
        for candidate in candidates { session.output.line(fields: [candidate.text, candidate.meaning]) }
        if completion.paths != .none { session.output.line(":\(completion.paths)") }
    }

    /// The films whose ids begin with the last word. Fetches nothing; an unreadable catalogue gives no films.
    private static func films(_ words: [String], _ interruption: Interruption) async -> [Completion.Candidate]
    {
        var line = ["list", "--offline", "--quiet"]
        for (index, word) in words.dropLast().enumerated() {
            if word == "--catalogue", index + 2 < words.count { line += [word, words[index + 1]] }
            if word.hasPrefix("--catalogue=") { line.append(word) }
        }
        do {
            let arguments = try Arguments(line, file: ConfigurationFile.standard)
            let session = Session(
                arguments: arguments,
                settings: try Settings(arguments, environment: ProcessInfo.processInfo.environment),
                output: Output(isQuiet: true), interruption: interruption)
            let start = words.last ?? ""
            return try await session.catalogue().catalogue.movies.lazy
                .filter { $0.id.hasPrefix(start) }.prefix(mostFilms)
                .map { Completion.Candidate(text: $0.id, meaning: $0.title) }
        } catch {
            return []
        }
    }

    private static let bash = """
        # marquee's completion for bash.
        _marquee() {
            local program=${COMP_WORDS[0]/#\\~/$HOME} word=${COMP_WORDS[COMP_CWORD]} text quoted paths=
            COMPREPLY=()
            while IFS=$'\\t' read -r text _; do
                case $text in
                :files) paths=-f ;;
                :folders) paths=-d ;;
                *) printf -v quoted %q "$text" && COMPREPLY+=("$quoted") ;;
                esac
            done < <("$program" completions words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
            [ -n "$paths" ] || return 0
            compopt -o filenames 2>/dev/null
            [ "$word" != = ] || word=
            while IFS= read -r text; do COMPREPLY+=("$text"); done < <(compgen "$paths" -- "$word")
        }
        complete -F _marquee marquee

        """

    private static let zsh = """
        #compdef marquee
        # marquee's completion for zsh.
        _marquee() {
            local line paths
            local -a candidates
            for line in "${(@f)$("${words[1]/#\\~/$HOME}" completions words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
                case $line in
                    '') ;;
                    :files) paths=files ;;
                    :folders) paths=folders ;;
                    *) candidates+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}") ;;
                esac
            done
            (( $#candidates )) && _describe marquee candidates
            case $paths in
                files) _files ;;
                folders) _files -/ ;;
            esac
        }
        if [[ $funcstack[1] = _marquee ]]; then _marquee "$@"; else compdef _marquee marquee; fi

        """

    private static let fish = """
        # marquee's completion for fish.
        function __marquee_complete
            set -l words (commandline -opc)
            set -l word (commandline -ct)
            for line in ($words[1] completions words -- $words[2..-1] "$word" 2>/dev/null)
                switch $line
                    case :files
                        __fish_complete_path "$word"
                    case :folders
                        __fish_complete_directories "$word"
                    case '*'
                        echo $line
                end
            end
        end
        complete -c marquee -f -a '(__marquee_complete)'

        """
}

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
    init(_ words: [String]) {
        var scan = Scan()
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
            addOperand(of: command, number: scan.operands)
        } else {
            candidates = Self.commands
            // A catalogue may be in the command's place.
            paths = .files
        }
        candidates = candidates.filter { $0.text.hasPrefix(word == "=" ? "" : word) }
    }

    private mutating func addValues(of option: Option, behind start: String) {
        add(alternatives: option.value ?? "", behind: start)
        candidates += option.choices.map { Candidate(text: start + $0) }
    }

    private static var commands: [Candidate] {
        CommandSpecification.all.map { Candidate(text: $0.name, meaning: $0.summary) }
    }

    private mutating func addOperand(of command: CommandSpecification, number: Int) {
        let operands = command.operands.split(separator: " ").map { $0.filter { !"[]".contains($0) } }
        guard let last = operands.last else { return }
        if number < operands.count || last.hasSuffix("...") {
            add(alternatives: number < operands.count ? operands[number] : last, behind: "")
        }
        if last == "COMMAND|TOPIC" {
            candidates =
                Self.commands + Help.topics.map { Candidate(text: $0.name, meaning: $0.summary) }
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
    private(set) var command: CommandSpecification?
    /// The number of operands so far.
    private(set) var operands = 0
    /// The option whose value comes next.
    private(set) var awaitingValue: Option?
    /// Whether no more options may follow.
    private(set) var hasEnded = false
    private var used: Set<String> = []

    mutating func take(_ word: String) {
        if awaitingValue != nil {
            if word != "=" { awaitingValue = nil }
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
            command = CommandSpecification.all.first { $0.name == word } ?? CommandSpecification.all.first
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
        (command?.options ?? CommandSpecification.all.flatMap(\.options)) + CommandSpecification.global
    }

    /// The options that may still be given, the command's own first.
    fileprivate var openOptions: [Option] {
        ((command ?? CommandSpecification.all.first)?.options ?? []).filter(isOpen)
            + CommandSpecification.global.filter(isOpen)
    }

    private func isOpen(_ option: Option) -> Bool { option.isRepeatable || !used.contains(option.name) }
}
