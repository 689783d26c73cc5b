import LazyImages

/// Gets what an address has to show.
struct AddressReader: Sendable {
    let session: Session
    let images: ImageLoader

    /// Its picture; where there is none, the answer.
    func picture(_ request: ImageRequest) async -> Overlay {
        do throws(ImageLoadingError) {
            return .picture(try await images.image(for: request), of: request.url.displayText)
        } catch {
            return await answer(request, because: error)
        }
    }

    /// The answer. The server is asked anew, since an answer without a picture is kept nowhere.
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
                body: file?.bytes.array ?? [], type: file?.contentType))
    }
}

extension ImageLoadingError {
    /// Whether a second request may show why: not where none was sent, or may be.
    fileprivate var mayHaveAnswer: Bool {
        switch self {
        case .httpStatus, .notAnImage, .undecodable, .checksumMismatch, .empty, .truncated, .encodedContent,
            .connectionLost:
            true
        default: false
        }
    }
}
