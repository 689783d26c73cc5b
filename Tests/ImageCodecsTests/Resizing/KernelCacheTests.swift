import TestTraits
import Testing

@testable import ImageCodecs

@Suite("The cache of kernels", .bounded)
struct KernelCacheTests {
    @Test("cached kernels equal new ones for their sizes and offsets, after any number of others")
    func same() {
        let kernels = KernelCache()
        let keys = (1...50).flatMap { count in
            [0.0, 1.5].map {
                KernelCache.Key(source: 100, scale: 100 / Double(count), first: $0, count: count)
            }
        }
        // Forward and backward, so that some are found and others were evicted.
        for key in keys + keys + keys.reversed() {
            let (kernel, fresh) = (
                kernels.kernel(key),
                LanczosKernel(from: key.source, scale: key.scale, first: key.first, count: key.count)
            )
            #expect(kernel.starts == fresh.starts && kernel.weights == fresh.weights, "\(key)")
            #expect(kernel.pairs == fresh.pairs)
        }
    }

    @Test("kernels are found again, except large ones")
    func found() {
        let kernels = KernelCache()
        /// Whether both kernels share the memory of their weights.
        func isShared(_ key: KernelCache.Key) -> Bool {
            let (first, second) = (kernels.kernel(key).weights, kernels.kernel(key).weights)
            return first.span.isIdentical(to: second.span)
        }
        #expect(isShared(KernelCache.Key(source: 750, scale: 750.0 / 513, first: 0, count: 513)))
        #expect(!isShared(KernelCache.Key(source: 40_000, scale: 1, first: 0, count: 40_000)))
    }
}
