public import FoundationEssentials

extension ImageRequest {
    /// Where an image's file comes from: a URL, or a closure that returns the bytes.
    ///
    /// A literal is an https, http, file or data URL as a person types it. One that cannot be read makes a request whose
    /// load fails with `.invalidURL` or `.unsupportedScheme`.
    ///
    /// Addresses are equal if they have the same URL and id, or closures with the same id.
    public struct Address: Sendable, Hashable {
        /// The URL as the caller gave it. Of a closure: `id:` and its id.
        let url: URL
        /// The caller's name for the image. All tiers and transfers use it in place of the URL. Nil for none.
        package let id: String?
        let data: DataClosure?

        private init(url: URL, id: String?, data: DataClosure? = nil) {
            (self.url, self.id, self.data) = (url, id, data)
        }

        var isData: Bool { data != nil }

        /// A URL.
        /// - Parameters:
        ///   - url: an https, http, file or data URL.
        ///   - id: a name for an image whose URL changes, such as a signed one. Cache entries and transfers use it in
        ///     place of the URL, so it must always name the same image. Default: nil, none.
        public static func url(_ url: URL, id: String? = nil) -> Address { Address(url: url, id: id) }

        /// A URL as a person types it. Characters that a URL must not contain are percent-encoded, what is encoded stays,
        /// and white space around the text is dropped.
        /// - Parameters:
        ///   - text: the URL.
        ///   - base: the base of a relative URL. Default: nil, none.
        ///   - id: as in ``url(_:id:)``.
        /// - Throws: `.invalidURL`, `.unsupportedScheme`.
        public static func text(
            _ text: String, relativeTo base: URL? = nil, id: String? = nil
        ) throws(ImageLoadingError) -> Address {
            Address(url: try URL(typed: text, relativeTo: base), id: id)
        }

        /// A closure that returns the bytes of the image's file.
        ///
        /// The loader calls it in place of a transfer: when no tier has the bytes, or with `.reload`. It waits in the
        /// queue by priority, runs on no particular actor, and runs once for all callers that wait. When the last caller
        /// leaves, its task is cancelled. The bytes are limited to ``ImageDownloader/Configuration/maximumBytes``, must
        /// be an image, and are kept in memory and on disk under `id`, where they stay fresh. An error becomes
        /// `.dataFailed`, unless it is an ``ImageLoadingError``. An error for which a transfer would be retried calls
        /// the closure again.
        /// - Parameters:
        ///   - id: the image's name. Each image needs its own.
        ///   - data: returns the bytes, as `[UInt8]` or `Data`.
        public static func data<Bytes: Sequence<UInt8> & Sendable>(
            id: String, _ data: @escaping @Sendable () async throws -> Bytes
        ) -> Address {
            Address(url: url(ofID: id), id: id, data: DataClosure { [UInt8](try await data()) })
        }

        /// `id:asset-7`, a scheme that is never fetched. An id that cannot be part of a URL is shown as a path.
        private static func url(ofID id: String) -> URL {
            var name = URL.percentEncoded(id)
            // Two slashes would begin a host (RFC 3986, section 3), and an id has none.
            if name.hasPrefix("//") { name = "%2F" + name.dropFirst() }
            return URL(string: "id:" + name) ?? URL(filePath: id)
        }
    }

    /// Returns the bytes of an image's file, in place of a transfer. All closures are equal: their ids tell them apart.
    struct DataClosure: Sendable, Hashable {
        let bytes: @Sendable () async throws -> [UInt8]

        static func == (one: Self, other: Self) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }
}

extension ImageRequest.Address: ExpressibleByStringInterpolation {
    /// The URL in a literal.
    /// - Parameter text: the URL.
    public init(stringLiteral text: String) {
        do {
            self = try .text(text)
        } catch {
            let failure = error
            self = .data(id: text) { () async throws -> [UInt8] in throw failure }
        }
    }
}
