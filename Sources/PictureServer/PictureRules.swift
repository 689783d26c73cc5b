package import ImageCodecs
package import LazyImages
package import PictureService

/// Which pictures may be made, and from which sources. The address alone decides, before anything is looked up or
/// fetched.
///
/// Without a signature: the listed sizes of the listed sources. With a signature: any size within the limits; and any
/// source, unless the operator has listed some. The network addresses of the source's host are checked when connecting,
/// not here.
package struct PictureRules: Sendable {
    /// The sizes of The Movie Database.
    package static let standardSizes = ["w92", "w154", "w185", "w342", "w500", "w780", "original"]

    /// Allows the sources that the operator lists, and the hosts of the catalogue's posters.
    private(set) var sources: FetchGuard
    /// Whether a signature allows any source: the operator lists none.
    let signatureAllowsSources: Bool
    private let listed: Set<FetchSource>
    /// The derivations of the listed sizes.
    package private(set) var sizes: Set<String>
    package var keys: SigningKeys?
    /// The largest picture.
    package let limits: DecodingLimits

    /// - Parameters:
    ///   - sources: the sources that the operator lists. Default: none.
    ///   - sizes: the listed recipes. Default: `standardSizes`. Their expiry and tag are ignored.
    ///   - limits: the limits, which also apply to decoding sources. Default: the decoders'.
    /// - Throws: `.malformedRecipe` for an invalid size.
    package init(
        sources: Set<FetchSource> = [], sizes: [String] = standardSizes, keys: SigningKeys? = nil,
        limits: DecodingLimits = .standard
    ) throws(PictureFailure) {
        listed = sources
        self.sources = FetchGuard(sources: Array(sources))
        signatureAllowsSources = sources.isEmpty
        self.keys = keys
        self.limits = limits
        var derivations: Set<String> = []
        for size in sizes { derivations.insert(try PictureFailure.recipe(size).derivation) }
        self.sizes = derivations
    }

    /// Allows the hosts of the catalogue's posters too. They do not limit signed addresses.
    package mutating func allow(_ catalogueSources: Set<FetchSource>) {
        sources = FetchGuard(sources: Array(listed.union(catalogueSources)))
    }

    /// The recipes in a file, one on each line.
    package static func sizes(inFile file: [UInt8]) throws(ListFile.Fault) -> [String] {
        try ListFile.values(of: file, ifNone: "no size; write a recipe on a line, such as w342") {
            entry throws(ListFile.Fault) in
            // Ignored: the error of the recipe; the line says where it is.
            guard entry.words.count == 1, (try? PictureRecipe(entry.words[0])) != nil else {
                throw ListFile.Fault(
                    "not a recipe; write one recipe on each line, such as w342, 342x513.fill or original")
            }
            return entry.words[0]
        }
    }

    /// Takes the keys and the listed sizes of other rules.
    /// - Returns: what has changed: `keys`, `sizes`.
    mutating func take(_ other: PictureRules) -> [String] {
        let changes = (keys == other.keys ? [] : ["keys"]) + (sizes == other.sizes ? [] : ["sizes"])
        (keys, sizes) = (other.keys, other.sizes)
        return changes
    }

    /// Checks whether an address may be answered.
    /// - Parameter now: seconds since 1970.
    /// - Throws: the error of the first rule that refuses: signature, expiry, scheme, source, size.
    package func check(_ address: PictureAddress, now: Int) throws(PictureFailure) {
        let isSigned = address.isSigned(by: keys)
        guard isSigned || address.signature == nil else { throw .wrongSignature }
        try checkExpiry(of: address.recipe, now: now)
        try check(address.source, isSigned: isSigned)
        try checkSize(of: address.recipe, isSigned: isSigned)
    }

    /// Checks an unsigned recipe for a source that the service chooses itself: a film's poster.
    package func check(_ recipe: PictureRecipe, now: Int) throws(PictureFailure) {
        try checkExpiry(of: recipe, now: now)
        try checkSize(of: recipe, isSigned: false)
    }

    /// Whether the source's own bytes may be sent.
    package func offersOriginal(of source: PictureSource) -> Bool {
        // Ignored: the caller asks only whether, not why.
        sizes.contains(PictureRecipe.original) && (try? check(source)) != nil
    }

    private func checkExpiry(of recipe: PictureRecipe, now: Int) throws(PictureFailure) {
        if let expiry = recipe.expiry, now >= expiry { throw .expired(expiry) }
    }

    /// Checks whether a source may be fetched, as far as its address tells.
    package func check(_ source: PictureSource, isSigned: Bool = false) throws(PictureFailure) {
        do throws(ImageLoadingError) {
            try sources.check(source.url, allowsInsecureHTTP: true)
        } catch .addressRefused(_, let rule, let reason) {
            let isAnySource = (try? Self.anySource.check(source.url, allowsInsecureHTTP: true)) != nil
            let isSignable = signatureAllowsSources && isAnySource
            // A signature vouches for the host, not for services at other ports.
            if isSigned, isSignable { return }
            guard let host = source.origin.flatMap({ FetchSource($0) }) else {
                throw .forbiddenSource(rule, reason)
            }
            throw .forbiddenSource(
                rule,
                "\(reason); allow it with --source \(host.text)"
                    + (isSignable && keys != nil ? ", or sign the address" : ""))
        } catch {
            throw .malformedAddress
        }
    }

    private static let anySource = FetchGuard(anyHostAllowing: [])

    private func checkSize(of recipe: PictureRecipe, isSigned: Bool) throws(PictureFailure) {
        guard isSigned || sizes.contains(recipe.derivation) else { throw .unlistedSize(recipe) }
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
            throw .tooLarge(recipe)
        }
    }
}
