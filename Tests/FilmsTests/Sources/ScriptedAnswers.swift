import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport

@testable import FilmSources

/// Answers the requests of a provider by a closure, and records them and the messages.
final class ScriptedAnswers: FilmAccess {
    private let asked = Lock<[URL]>([])
    private let told = Lock<[String]>([])
    private let answer: @Sendable (URL) throws -> String

    init(_ answer: @escaping @Sendable (URL) throws -> String) { self.answer = answer }

    /// The addresses, in order.
    var requests: [URL] { asked.withLock { $0 } }

    var notices: [String] { told.withLock { $0 } }

    var isOffline: Bool { false }

    func answer(to url: URL, _ fields: HeaderFields) async throws -> FilmAnswer {
        asked.withLock { $0.append(url) }
        return FilmAnswer(Array(try answer(url).utf8), base: BaseURL(url), confirmed: 1_000)
    }

    func send(_ request: UploadRequest) async throws(ImageLoadingError) -> UploadResponse {
        throw .cancelled(url: "\(request.url)")
    }

    func contents(ofFile path: String, limit: Int) async throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    func refusal(by server: URL) -> FilmFault { FilmFault("\(server) refuses", code: "credential-refused") }

    func notice(_ text: String) { told.withLock { $0.append(text) } }
}

extension URL {
    /// The value of a parameter.
    func parameter(_ name: String) -> String? {
        URLComponents(url: self, resolvingAgainstBaseURL: true)?.queryItems?.first { $0.name == name }?.value
    }
}

extension FilmProvider {
    /// All pages.
    /// - Parameter words: what the films have.
    func pages(
        after first: Int = 0, searching words: String? = nil, _ answers: ScriptedAnswers
    ) async throws -> [CataloguePage] {
        var selection = FilmSelection()
        (selection.pages, selection.words) = (first..<1_000, words)
        let pages = Lock<[CataloguePage]>([])
        try await readPages(selection, answers) { page in
            pages.withLock { $0.append(page) }
            return true
        }
        return pages.withLock { $0 }
    }
}
