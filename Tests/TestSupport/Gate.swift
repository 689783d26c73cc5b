import LazyImages

/// A door that is shut until somebody opens it, and stays open from then on. Threads wait for its descriptor with
/// `poll`, beside their sockets.
public final class Gate: Sendable {
    private let wake = WakeDescriptor()

    /// A shut gate.
    public init() {}

    /// Opens it, for good.
    public func open() { wake.signal() }

    /// Readable once the gate is open.
    package var descriptor: Int32 { wake.descriptor }
}
