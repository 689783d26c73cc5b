import FoundationEssentials
import SystemSupport

@testable import FilmSources

/// Answers the requests of a source by a closure, and records them.
final class ScriptedAnswers: SourceAnswers {
    private let asked = Lock<[URL]>([])
    private let answer: @Sendable (URL) throws -> String

    init(_ answer: @escaping @Sendable (URL) throws -> String) { self.answer = answer }

    /// The addresses, in order.
    var requests: [URL] { asked.withLock { $0 } }

    func answer(to url: URL) async throws -> SourceAnswer {
        asked.withLock { $0.append(url) }
        return SourceAnswer(Array(try answer(url).utf8), confirmed: 1_000)
    }
}

extension URL {
    /// The value of a parameter.
    func parameter(_ name: String) -> String? {
        URLComponents(url: self, resolvingAgainstBaseURL: true)?.queryItems?.first { $0.name == name }?.value
    }
}

extension FilmSource {
    /// All pages.
    func pages(after first: Int = 0, _ answers: ScriptedAnswers) async throws -> [SourcePage] {
        var pages: [SourcePage] = []
        try await readPages(after: first, answers) { pages.append($0) }
        return pages
    }
}
