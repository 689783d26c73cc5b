internal import SystemSupport

extension ImageLoadingError {
    /// The error of a load that failed because of a shortage.
    init(_ shortage: ResourceShortage, url: String) {
        self = .resourcesShort(url: url, reason: shortage.description)
    }
}
