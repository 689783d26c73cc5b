import HTTPSemantics
import LazyImages
import PictureService

/// What `marquee upload` sends: a file, a form with a file (RFC 7578), or the fields of a form, url-encoded.
struct UploadContent: Sendable {
    /// The command line, checked.
    struct Order: Sendable {
        /// A path, or `-`; nil for a form without a file.
        let file: String?
        let method: HTTPMethod
        let type: String?
        let fields: [(name: String, value: String)]
        /// The form field of the file; nil if the file is the whole body.
        let fileField: String?
        let recipe: PictureRecipe?
    }

    let body: UploadBody
    /// The SHA-256 of the file, if the user wants it.
    let checksum: String?

    /// Reads what must be known before sending. Blocks.
    init(_ order: Order, _ settings: Settings) throws(Failure) {
        guard let word = order.file else {
            (body, checksum) = (.urlEncoded(order.fields), nil)
            return
        }
        var file: UploadedFile
        do throws(ImageLoadingError) { file = try UploadedFile(word, type: order.type) } catch {
            throw Failure(error)
        }
        if let recipe = order.recipe {
            try file.replaceByPicture(by: recipe, limit: settings.downloads.maximumBytes)
        } else {
            try file.check()
        }
        do throws(ImageLoadingError) {
            if let field = order.fileField {
                body = .form(order.fields.map { .field($0.name, $0.value) } + [file.part(field)])
            } else {
                body = file.body
            }
            // An unreadable file is reported before anything is sent.
            _ = try body.open()
            checksum = settings.wantsChecksum ? try file.checksum() : nil
        } catch {
            throw Failure(error)
        }
    }
}

extension UploadContent.Order {
    /// The default name of the file's field in a form.
    private static let usualField = "file"

    init(_ arguments: Arguments) throws(UsageError) {
        file = arguments.operands.count == 2 ? arguments.operands[0] : nil
        var fields: [(name: String, value: String)] = []
        for text in arguments.values("form") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError("--form needs NAME=VALUE, not \"\(text)\"")
            }
            fields.append((String(parts[0]), String(parts[1])))
        }
        self.fields = fields
        guard file != nil || !fields.isEmpty else {
            throw UsageError("upload needs FILE or -, and URL; or URL and --form NAME=VALUE")
        }
        for name in ["field", "type", "recipe"] where file == nil && arguments.has(name) {
            throw UsageError("--\(name) needs a file; name one before the URL")
        }
        let field = arguments.value("field")
        if field?.isEmpty == true { throw UsageError("--field needs the name of the file's field") }
        fileField = file == nil ? nil : field ?? (fields.isEmpty ? nil : Self.usualField)

        switch arguments.value("method")?.uppercased() {
        case nil: method = fields.isEmpty && fileField == nil ? .put : .post
        case "PUT": method = .put
        case "POST": method = .post
        case let other?: throw UsageError("--method needs PUT or POST, not \"\(other)\"")
        }
        type = arguments.value("type")
        if let type, ContentType(type) == nil {
            throw UsageError("--type needs a media type such as image/jpeg, not \"\(type)\"")
        }
        if let text = arguments.value("recipe") {
            if type != nil { throw UsageError("leave out --type: the picture of --recipe has its own type") }
            do throws(PictureError) { recipe = try PictureRecipe(text) } catch {
                throw UsageError("--recipe: \(error)")
            }
        } else {
            recipe = nil
        }
    }
}
