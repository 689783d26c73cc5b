package import Films
package import LazyImages
import TerminalGraphics

/// What covers the films for a while.
package enum Overlay: Sendable {
    case help
    /// An address is being typed in the title line.
    case address(LineEditor)
    /// An address loads; the title line shows it, dim.
    case opening(String)
    /// The picture of an address.
    case picture(LoadedImage, of: String)
    /// The paragraphs of an answer without a picture.
    case answer([StyledText])
    /// A question, which y or n answers.
    case question(String, Question)
    /// Which version of the selected film is played; its digit answers.
    case versions([FilmPart])

    /// What a question is about.
    package enum Question: Sendable {
        /// Whether marks are sent to the films' server.
        case sendsMarks
        /// Whether the film that was played is seen, or this episode of it.
        case isSeen(Movie, FilmPart?)
    }

    /// Whether it hides the films.
    var hidesFilms: Bool {
        switch self {
        case .help, .picture, .answer: true
        case .address, .opening, .question, .versions: false
        }
    }
}

extension BrowserState {
    /// Whether an address loads.
    package var isOpening: Bool { if case .opening = overlay { true } else { false } }

    /// Shows the content of an address.
    package mutating func show(_ overlay: Overlay) {
        self.overlay = overlay
        overlayTop = 0
    }

    mutating func handleOverlayKey(_ key: TerminalKey, _ overlay: Overlay) -> [Effect] {
        switch overlay {
        case .help, .answer:
            if let movement = Movement(key), scrollText(by: movement) { return [] }
            self.overlay = nil
        case .picture: self.overlay = nil
        case .opening:
            guard [.escape, .character("q")].contains(key.code) else { return [] }
            self.overlay = nil
            return [.stopOpening]
        case .address(let editor): return handleAddressKey(key, editor)
        case .question(_, let question):
            switch key.code {
            case .character("y"), .character("Y"), .character("n"), .character("N"):
                self.overlay = nil
                return answer(question, [.character("y"), .character("Y")].contains(key.code))
            case .escape: self.overlay = nil
            default: break
            }
        case .versions(let versions):
            if case .character(let letter) = key.code, let number = Self.versionKeys.firstIndex(of: letter),
                number < versions.count
            {
                self.overlay = nil
                return play(versions[number].media)
            }
            if [.escape, .character("q")].contains(key.code) { self.overlay = nil }
        }
        return []
    }

    /// The keys of versions: digits, then letters but q.
    static let versionKeys = Array("123456789abcdefghijklmnoprstuvwxyz")

    private mutating func answer(_ question: Overlay.Question, _ isYes: Bool) -> [Effect] {
        switch question {
        case .sendsMarks:
            notice = isYes ? "Marks are sent to the server" : "Marks stay here"
            return [.sendMarks(isYes)]
        case .isSeen(let movie, let part):
            guard isYes else { return [] }
            let changes = list.seen(movie, part)
            undoable.append(changes.map(\.undone))
            notice = "Seen: " + (part?.title ?? movie.title)
            return store(changes)
        }
    }

    /// Plays a film: of a series the first episode that is unseen; of versions the one that is chosen.
    mutating func play(_ movie: Movie) -> [Effect] {
        if movie.isSeries {
            let seen = list.marks.seenParts(of: movie)
            let next = movie.parts.first { !seen.contains($0) } ?? movie.parts[0]
            return play(next.media)
        }
        guard movie.parts.isEmpty else {
            show(.versions(movie.parts))
            return []
        }
        return movie.media.map { play($0) } ?? []
    }

    private mutating func play(_ media: String) -> [Effect] {
        played = media
        return [.play(media)]
    }

    /// Asks whether the film is seen that has just been played to its end.
    package mutating func offerSeen() {
        guard let movie = list.selectedMovie, let played else { return }
        let part = movie.isSeries ? movie.parts.first { $0.media == played } : nil
        let isSeen = part.map { list.marks.seenParts(of: movie).contains($0) } ?? list.marks(of: movie).isSeen
        if !isSeen { show(.question("Seen: \(part?.title ?? movie.title)?", .isSeen(movie, part))) }
    }

    private mutating func handleAddressKey(_ key: TerminalKey, _ editor: LineEditor) -> [Effect] {
        var editor = editor
        switch key.code {
        case .enter:
            if editor.text.contains(where: { $0 != " " }) { return [.open(editor.text)] }
            overlay = nil
        case .escape: overlay = nil
        case .backspace where editor.text.isEmpty: overlay = nil
        default:
            if editor.take(key) { overlay = .address(editor) }
        }
        return []
    }
}
