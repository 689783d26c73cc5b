import LazyImages

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
                body: file?.bytes.array ?? [], type: file?.contentType))
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
