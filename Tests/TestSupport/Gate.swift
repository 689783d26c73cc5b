import SystemSupport

/// A gate that opens once and stays open. Threads can wait for its descriptor with `poll`, beside their
/// sockets.
public final class Gate: Sendable {
    private let wake: WakeDescriptor

    /// A closed gate.
    public init() {
        do {
            wake = try WakeDescriptor()
        } catch {
            fatalError("a test has no descriptor for its gate: \(error)")
        }
    }

    /// Opens the gate for good.
    public func open() { wake.signal() }

    /// Blocks the calling thread until the gate is open.
    public func wait() { wake.wait() }

    /// Readable once the gate is open.
    package var descriptor: Int32 { wake.descriptor }
}
