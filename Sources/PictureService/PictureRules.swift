package import HTTPSemantics
package import ImageCodecs

/// Which pictures may be made, and from which sources. The address alone decides, before anything is looked up or
/// fetched.
///
/// Without a signature: the listed sizes of the listed sources. With a signature: any size within the limits; and any
/// source, unless the operator has listed some. The network addresses of the source's host are checked when connecting,
/// not here.
package struct PictureRules: Sendable {
    /// An allowed host: `example.org` at ports 80 and 443, or `example.org:8080` at that port only.
    package struct Source: Hashable, Sendable {
        package let name: HostAndPort

        package init(_ name: HostAndPort) { self.name = name }

        /// The host of an address.
        package init(_ origin: WebOrigin) {
            name = HostAndPort(host: origin.host, port: Self.ports.contains(origin.port) ? nil : origin.port)
        }

        /// Host and port, as written in an address.
        package var text: String {
            let host = name.host.contains(":") ? "[\(name.host)]" : name.host
            return name.port.map { "\(host):\($0)" } ?? host
        }

        /// Whether the whole host is equal and the port is allowed.
        func allows(_ origin: WebOrigin) -> Bool {
            origin.host == name.host
                && (name.port.map { $0 == origin.port } ?? Self.ports.contains(origin.port))
        }

        /// The ports if none is named.
        fileprivate static let ports: Set<Int> = [80, 443]
    }

    /// The sizes of The Movie Database.
    package static let standardSizes = ["w92", "w154", "w185", "w342", "w500", "w780", "original"]

    /// The sources that the operator lists.
    package var sources: Set<Source>
    /// The hosts of the catalogue's posters. They are allowed too, but do not limit signed addresses.
    package var catalogueSources: Set<Source>
    /// The derivations of the listed sizes.
    private let sizes: Set<String>
    package var keys: SigningKeys?
    /// The largest picture.
    package let limits: DecodingLimits

    /// - Parameters:
    /// - sizes: the listed recipes. Default: `standardSizes`. Their expiry and tag are ignored.
    /// - limits: the limits, which also apply to decoding sources. Default: the decoders'.
    /// - Throws: `.malformedRecipe` for an invalid size.
    package init(
        sources: Set<Source> = [], catalogueSources: Set<Source> = [], sizes: [String] = standardSizes,
        keys: SigningKeys? = nil, limits: DecodingLimits = .standard
    ) throws(PictureError) {
        self.sources = sources
        self.catalogueSources = catalogueSources
        self.keys = keys
        self.limits = limits
        var derivations: Set<String> = []
        for size in sizes { derivations.insert(try PictureRecipe(size).derivation) }
        self.sizes = derivations
    }

    /// Checks whether an address may be answered.
    /// - Parameter now: seconds since 1970.
    /// - Throws: the error of the first rule that refuses: signature, expiry, scheme, source, size.
    package func check(_ address: PictureAddress, now: Int) throws(PictureError) {
        let isSigned = address.isSigned(by: keys)
        guard isSigned || address.signature == nil else { throw .wrongSignature }
        try checkExpiry(of: address.recipe, now: now)
        try check(address.source, isSigned: isSigned)
        try checkSize(of: address.recipe, isSigned: isSigned)
    }

    /// Checks an unsigned recipe for a source that the service chooses itself: a film's poster.
    package func check(_ recipe: PictureRecipe, now: Int) throws(PictureError) {
        try checkExpiry(of: recipe, now: now)
        try checkSize(of: recipe, isSigned: false)
    }

    /// Whether the source's own bytes may be sent.
    package func offersOriginal(of source: PictureSource) -> Bool {
        // Losing the error is right: the caller asks only whether, not why.
        sizes.contains(PictureRecipe.original) && (try? check(source)) != nil
    }

    private func checkExpiry(of recipe: PictureRecipe, now: Int) throws(PictureError) {
        if let expiry = recipe.expiry, now >= expiry { throw .expired(expiry) }
    }

    /// Checks whether a source may be fetched, as far as its address tells.
    package func check(_ source: PictureSource, isSigned: Bool = false) throws(PictureError) {
        guard ["https", "http"].contains(source.scheme) else { throw .forbiddenScheme(source.scheme) }
        // The address has no origin if it contains user information, which is refused.
        guard let origin = source.origin else { throw .forbiddenSource(host: source.url.host() ?? "") }
        // A signature vouches for the host, not for services at other ports.
        if isSigned, sources.isEmpty, Source.ports.contains(origin.port) { return }
        guard
            sources.contains(where: { $0.allows(origin) })
                || catalogueSources.contains(where: { $0.allows(origin) })
        else { throw .forbiddenSource(host: origin.host) }
    }

    private func checkSize(of recipe: PictureRecipe, isSigned: Bool) throws(PictureError) {
        guard isSigned || sizes.contains(recipe.derivation) else { throw .unlistedSize("\(recipe)") }
        // If one side is missing, it follows from the source, which is within the limits too.
        let size: ImageSize? =
            switch recipe.size {
            case .width(let width): ImageSize(width: width, height: 1)
            case .height(let height): ImageSize(width: 1, height: height)
            case .box(let box), .fill(let box): box
            case .original: nil
            }
        guard let size else { return }
        do {
            try limits.check(size)
        } catch {
            throw .tooLarge("\(recipe)")
        }
    }
}
