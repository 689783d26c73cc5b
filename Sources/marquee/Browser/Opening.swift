import ImageCodecs
import LazyImages
import MovieCatalogue
import TerminalGraphics

/// An address whose picture or answer is on its way, one at a time. Used by the browser's thread.
final class Opening {
    private let subject: Browser.Subject
    private let mailbox: Mailbox<Browser.Message>
    private var task: Task<Void, Never>?
    private var number = 0

    init(_ subject: Browser.Subject, mailbox: Mailbox<Browser.Message>) {
        self.subject = subject
        self.mailbox = mailbox
    }

    /// Begins to get the picture of an address that was typed.
    /// - Parameter size: the pixels that can be shown.
    /// - Returns: the address as it is shown.
    /// - Throws: why the text is none.
    func open(_ text: String, relativeTo base: BaseURL, size: ImageSize?) throws(Failure) -> String {
        guard let target = FetchTarget(text) else {
            throw Failure("\(text) is no address; begin with https://, or with ./ or / for a file")
        }
        switch subject.poster(target.address, base) {
        case .failure(let error): throw Failure(error.advised)
        case .success(var request):
            request.targetSize = size
            begin { [request] in await $0.picture(request) }
            return request.url.displayText
        }
    }

    /// Begins to get the answer behind a poster that could not be had.
    /// - Returns: its address.
    func showAnswer(of failure: PosterFailure) -> String? {
        guard let request = failure.request, let error = failure.error else { return nil }
        begin { await $0.answer(request, because: error) }
        return request.url.displayText
    }

    private func begin(_ read: @escaping @Sendable (AddressReader) async -> Overlay) {
        stop()
        task = Task { [number, reader = subject.reader, mailbox] in
            mailbox.send(.opened(number, await read(reader)))
        }
    }

    func stop() {
        task?.cancel()
        number += 1
    }

    /// Whether what came is still waited for.
    func awaits(_ number: Int) -> Bool { number == self.number }
}
