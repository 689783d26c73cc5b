internal import SystemSupport

/// A cache of recent kernels. Most posters have one of a few sizes, and creating their kernels took a tenth of the time
/// of an image.
///
/// Safe for concurrent use.
struct KernelCache: ~Copyable {
    /// The arguments of the kernel's initialiser.
    struct Key: Hashable {
        let source: Int
        let scale: Double
        let first: Double
        let count: Int
    }

    static let shared = KernelCache()

    /// Four for each size, two of them for chroma. They take 4 MiB at most; those of posters about 20 KiB each.
    private static let limit = 32
    private static let pairLimit = 8192

    /// Oldest first.
    private let kernels = Lock<[(key: Key, kernel: LanczosKernel)]>([])

    /// The kernel for a key. Two threads may create the same kernel at once.
    func kernel(_ key: Key) -> LanczosKernel {
        if let recent = kernels.withLock({ kernels in kernels.first { $0.key == key }?.kernel }) {
            return recent
        }
        let kernel = LanczosKernel(from: key.source, scale: key.scale, first: key.first, count: key.count)
        guard kernel.weights.count <= Self.pairLimit else { return kernel }
        kernels.withLock { kernels in
            if kernels.count == Self.limit { kernels.removeFirst() }
            kernels.append((key, kernel))
        }
        return kernel
    }
}
