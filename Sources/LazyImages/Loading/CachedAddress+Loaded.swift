extension CachedFile: CachedAddress {}
extension CachedImage: CachedAddress {}
