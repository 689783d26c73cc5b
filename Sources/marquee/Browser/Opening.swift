import ImageCodecs
import LazyImages
import MovieCatalogue
import TerminalGraphics

/// One address whose picture or answer is loading. Used by the browser's thread only.
final class Opening {
    private let environment: Browser.Environment
    private let mailbox: Mailbox<Browser.Message>
    private var task: Task<Void, Never>?
    private var number = 0

    init(_ environment: Browser.Environment, mailbox: Mailbox<Browser.Message>) {
        self.environment = environment
        self.mailbox = mailbox
    }

    /// Begins to load the picture of a typed address.
    /// - Parameter size: the most pixels that can be shown.
    /// - Returns: the address in the form to show.
    /// - Throws: why the text is not an address.
    func open(_ text: String, relativeTo base: BaseURL, size: ImageSize?) throws(Failure) -> String {
        guard let target = FetchTarget(text) else {
            throw Failure("\(text) is not a URL; begin with https://, or with ./ or / for a file")
        }
        switch environment.poster(target.address, base) {
        case .failure(let error): throw Failure(error.advised)
        case .success(var request):
            request.targetSize = size
            begin { [request] in await $0.picture(request) }
            return request.url.displayText
        }
    }

    /// Begins to load the answer behind a poster's failure.
    /// - Returns: its address.
    func showAnswer(of failure: PosterFailure) -> String? {
        guard let request = failure.request, let error = failure.error else { return nil }
        begin { await $0.answer(request, because: error) }
        return request.url.displayText
    }

    private func begin(_ read: @escaping @Sendable (AddressReader) async -> Overlay) {
        stop()
        task = Task { [number, reader = environment.reader, mailbox] in
            mailbox.send(.opened(number, await read(reader)))
        }
    }

    func stop() {
        task?.cancel()
        number += 1
    }

    /// Whether this number's result is still wanted.
    func awaits(_ number: Int) -> Bool { number == self.number }
}
