import FilmBrowser
import FoundationEssentials
import HTTPSemantics
import ImageCodecs
import LazyImages
import SystemSupport
import TerminalGraphics

/// Loads the picture at an address.
struct AddressReader: Sendable {
    let session: Session
    let images: ImageLoader

    /// The picture; or the server's answer, where it has no picture.
    func picture(_ request: ImageRequest) async -> Overlay {
        do throws(ImageLoadingError) {
            return .picture(try await images.image(for: request), of: request.url.displayText)
        } catch {
            return await answer(request, because: error)
        }
    }

    /// The server's answer. The server is asked again, because an answer without a picture is not cached.
    func answer(_ request: ImageRequest, because error: ImageLoadingError) async -> Overlay {
        var file: LoadedFile?
        var error = error
        if error.mayHaveAnswer {
            let opened = session.makeAnswerLoader()
            do throws(ImageLoadingError) {
                file = try await opened.loader.file(for: request)
            } catch let later {
                error = later
            }
            await opened.close()
        }
        return .answer(
            AnswerText(
                address: request.url.displayText, because: error, head: file?.head,
                body: file?.bytes.array ?? [], type: file?.contentType
            ).paragraphs)
    }
}

extension ImageLoadingError {
    /// Whether a second request may show the cause. It cannot where no request was sent, or may be sent.
    fileprivate var mayHaveAnswer: Bool {
        switch self {
        case .httpStatus, .notAnImage, .undecodable, .checksumMismatch, .empty, .truncated, .encodedContent,
            .connectionLost:
            true
        default: false
        }
    }
}

/// One address whose picture or answer is loading. Used by the browser's thread only.
final class Opening {
    private let reader: AddressReader
    private let mailbox: Mailbox<Browser.Message>
    private var task: Task<Void, Never>?
    private var number = 0

    init(_ reader: AddressReader, mailbox: Mailbox<Browser.Message>) {
        (self.reader, self.mailbox) = (reader, mailbox)
    }

    /// Begins to load the picture of a typed address.
    /// - Parameter size: the most pixels that can be shown.
    /// - Returns: the address in the form to show.
    /// - Throws: why the text is not an address.
    func open(_ text: String, relativeTo base: BaseURL, size: ImageSize?) throws(Failure) -> String {
        guard let target = FetchTarget(text) else {
            throw Failure("\(text) is not a URL; begin with https://, or with ./ or / for a file")
        }
        // A person may name any file, whatever the list.
        let base = target.filePath == nil ? base : BaseURL(URL(filePath: "/"))
        var request = try Failure.advising(
            try reader.session.posterRequest(for: target.address, relativeTo: base, decodedAt: nil))
        request.targetSize = size
        begin { [request] in await $0.picture(request) }
        return request.url.displayText
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
        task = Task { [number, reader, mailbox] in
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

/// A server's answer as text for a person: the address, why there is no picture, the status line, the header and the
/// source of the body. The text is safe for a terminal.
struct AnswerText {
    /// The most characters of a body that are shown.
    static let longestBody = 32 * 1024
    private(set) var paragraphs: [StyledText]

    /// - Parameters:
    ///   - address: the address without credentials.
    ///   - error: why there is no picture.
    ///   - head: nil if there was no answer, or the address is of a file.
    init(address: String, because error: ImageLoadingError, head: ResponseHead?, body: [UInt8], type: String?)
    {
        paragraphs = []
        add(address, .bold)
        add(ImageLoadingError.withoutAddress(error.advised))
        add("")
        if let head {
            let reason = HTTPStatus(rawValue: head.status).reason
            add("HTTP \(head.status) \(reason)", .bold)
            for field in head.fields.fields { add("\(field.name): \(field.value)", .dim) }
            add("")
        }
        guard !body.isEmpty else { return }
        // Decodes all of the body: a part may end within a character and look like another charset.
        guard let text = ReadableText.text(of: body, type: type) else {
            add("(\(body.count) bytes, which are no text)", .dim)
            return
        }
        let beginning = text.prefix(Self.longestBody)
        let lines = TerminalText.visible(String(beginning), keepingNewlines: true)
        paragraphs.append(StyledText(lines))
        if beginning.endIndex < text.endIndex {
            add("(cut: the body has \(body.count) bytes)", .dim)
        }
    }

    private mutating func add(_ text: String, _ style: CellStyle = CellStyle()) {
        paragraphs.append(StyledText(TerminalText.visible(text), style))
    }
}
