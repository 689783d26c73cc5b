#if THREAD_SANITIZER
    /// Makes all that a thread did before its `mark` happen before all that another does after its own. Every continuation
    /// does so. But where one is resumed before its task waits for it, the Swift runtime does not tell the thread sanitizer,
    /// which then reports races that are none.
    package struct ResumeOrder: Sendable {
        private final class Passage: Sendable {
            let lock = Lock(())
        }
        private let passage = Passage()

        package init() {}

        package func mark() { passage.lock.withLock { _ in } }
    }
#else
    /// Does nothing: only the thread sanitizer needs to be told that a continuation orders two threads.
    package struct ResumeOrder: Sendable {
        package init() {}

        package func mark() {}
    }
#endif
