import FoundationEssentials
import Glibc
import LazyImages

/// The targets of `fetch`, one after the other: its operands and, in place of `-`, the lines of standard input, each as
/// soon as it arrives. A word that names nothing becomes a failure of its own and does not stop the others.
actor FetchTargets {
    enum Item: Sendable {
        case target(FetchTarget)
        case failure(FetchRecord)
    }

    private let session: Session
    private let input = InputLines()
    private var words: ArraySlice<String>
    private var readsInput = false
    private var catalogue: Result<OpenCatalogue, any Error>?
    /// The number of targets so far.
    private(set) var count = 0

    init(_ session: Session) {
        self.session = session
        words = session.arguments.operands[...]
    }

    /// The next target; nil at the end. One caller at a time.
    func next() async throws(Failure) -> Item? {
        guard let word = try await nextWord() else { return nil }
        count += 1
        if let target = FetchTarget(word) { return .target(try await target.readingPipe(session)) }
        if catalogue == nil {
            let opened = await opened()
            if !Task.isCancelled { catalogue = opened }
        }
        return item(film: word)
    }

    /// The remaining targets as far as they are known, for a program that is ending. Does not wait.
    func rest() async -> [FetchRecord] {
        var rest: [String] = readsInput ? await input.rest() : []
        for word in words { rest += word == "-" ? await input.rest() : [word] }
        return rest.map { word in
            let item = FetchTarget(word).map(Item.target) ?? item(film: word)
            switch item {
            case .target(let target):
                return FetchRecord(.cancelled(url: target.displayText), of: target.displayText)
            case .failure(let record): return record
            }
        }
    }

    private func nextWord() async throws(Failure) -> String? {
        while true {
            if readsInput {
                do throws(Failure) {
                    if let line = try await input.next() { return line }
                    readsInput = false
                } catch {
                    // The operands after it are still fetched. After an interruption, `rest` reads once more.
                    readsInput = Task.isCancelled
                    throw error
                }
            }
            guard let word = words.popFirst() else { return nil }
            if word != "-" { return word }
            readsInput = true
        }
    }

    private func opened() async -> Result<OpenCatalogue, any Error> {
        do {
            return .success(try await session.catalogue())
        } catch {
            return .failure(error)
        }
    }

    private func item(film word: String) -> Item {
        switch catalogue {
        case nil: .failure(FetchRecord(.cancelled(url: word), of: word))
        case .failure where FetchTarget.isFile(word): .target(FetchTarget(file: word))
        case .failure(let error as ImageLoadingError): .failure(FetchRecord(error, of: word))
        case .failure(let error):
            .failure(FetchRecord(Failure("\(error)", code: "unreadable-catalogue"), of: word))
        case .success(let open): item(film: word, in: open)
        }
    }

    private func item(film word: String, in open: OpenCatalogue) -> Item {
        do throws(Failure) {
            guard let movie = try session.filmUnlessFile(word, in: open.catalogue) else {
                return .target(FetchTarget(file: word))
            }
            guard let poster = movie.poster else {
                throw Failure(
                    "\(movie.title) has no poster in the catalogue; add the address of one there",
                    code: "no-poster")
            }
            return .target(FetchTarget(address: poster, base: open.base, name: movie.id))
        } catch {
            return .failure(FetchRecord(error, of: word))
        }
    }
}
