package import HTTPSemantics
package import ImageCodecs

/// Which pictures may be made, and of what: decided by the address alone, before anything is looked up or fetched.
///
/// Without a signature: the sizes on offer, of the sources on offer. With one: any size within the limits; and any source
/// where the operator has named none, else those. An address that the source's host resolves to is judged when it is connected
/// to, not here.
package struct PictureRules: Sendable {
    /// A host that pictures may be made of: `example.org`, at ports 80 and 443, or `example.org:8080`, at that one.
    package struct Source: Hashable, Sendable {
        package let name: HostName

        package init(_ name: HostName) { self.name = name }

        /// The host of an address.
        package init(_ origin: WebOrigin) {
            name = HostName(host: origin.host, port: Self.ports.contains(origin.port) ? nil : origin.port)
        }

        /// Host and port as an address has them.
        var text: String {
            let host = name.host.contains(":") ? "[\(name.host)]" : name.host
            return name.port.map { "\(host):\($0)" } ?? host
        }

        /// Whether it is the same host, whole, at a port that is allowed.
        func allows(_ origin: WebOrigin) -> Bool {
            origin.host == name.host
                && (name.port.map { $0 == origin.port } ?? Self.ports.contains(origin.port))
        }

        /// Where no port is named.
        fileprivate static let ports: Set<Int> = [80, 443]
    }

    /// Those of The Movie Database.
    package static let standardSizes = ["w92", "w154", "w185", "w342", "w500", "w780", "original"]

    /// The sources that the operator names.
    package var sources: Set<Source>
    /// The hosts of the posters in the catalogue: on offer too, but they limit no signature.
    package var catalogueSources: Set<Source>
    /// The derivations of the sizes on offer.
    private let sizes: Set<String>
    package var keys: SigningKeys?
    /// What a picture may be at most.
    package let limits: DecodingLimits

    /// - Parameters:
    ///   - sizes: recipes on offer. Default: `standardSizes`. Their expiry and tag do not count.
    ///   - limits: those that sources are decoded within too. Default: the decoders'.
    /// - Throws: `.malformedRecipe` for a size that is none.
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

    /// Lets an address pass that may be answered.
    /// - Parameter now: seconds since 1970.
    /// - Throws: the first rule that refuses: signature, expiry, scheme, source, size.
    package func check(_ address: PictureAddress, now: Int) throws(PictureError) {
        let isSigned = address.isSigned(by: keys)
        guard isSigned || address.signature == nil else { throw .wrongSignature }
        try checkExpiry(of: address.recipe, now: now)
        try check(address.source, isSigned: isSigned)
        try checkSize(of: address.recipe, isSigned: isSigned)
    }

    /// Lets a recipe pass that nobody signed, of a source that the service chooses itself: a film's poster.
    package func check(_ recipe: PictureRecipe, now: Int) throws(PictureError) {
        try checkExpiry(of: recipe, now: now)
        try checkSize(of: recipe, isSigned: false)
    }

    /// Whether the bytes of a source may be handed out as they are.
    package func offersOriginal(of source: PictureSource) -> Bool {
        sizes.contains(PictureRecipe.original) && (try? check(source)) != nil
    }

    private func checkExpiry(of recipe: PictureRecipe, now: Int) throws(PictureError) {
        if let expiry = recipe.expiry, now >= expiry { throw .expired(expiry) }
    }

    /// Lets a source pass that may be fetched, as far as its address tells.
    func check(_ source: PictureSource, isSigned: Bool = false) throws(PictureError) {
        guard ["https", "http"].contains(source.scheme) else { throw .forbiddenScheme(source.scheme) }
        // Without one there is user information, which nobody may bring.
        guard let origin = source.origin else { throw .forbiddenSource(host: source.url.host() ?? "") }
        // A signature vouches for the host, not for what listens at odd ports.
        if isSigned, sources.isEmpty, Source.ports.contains(origin.port) { return }
        guard
            sources.contains(where: { $0.allows(origin) })
                || catalogueSources.contains(where: { $0.allows(origin) })
        else { throw .forbiddenSource(host: origin.host) }
    }

    private func checkSize(of recipe: PictureRecipe, isSigned: Bool) throws(PictureError) {
        guard isSigned || sizes.contains(recipe.derivation) else { throw .unlistedSize("\(recipe)") }
        // Of one side alone the other follows from the source, which is no larger than the limits either.
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
