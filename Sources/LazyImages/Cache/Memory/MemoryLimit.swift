import SystemSupport

/// How much memory a memory tier takes where nobody says otherwise.
public enum MemoryLimit {
    /// 15 % of the memory this process may use (its control group's limit, or the machine's memory), at most 512 MiB, in
    /// bytes. Looked up once.
    public static let standard = limit(allowance: SystemMemory().allowance)

    private static let share = 0.15
    private static let most = 512 << 20
    /// Where the kernel does not tell.
    private static let unknown = 64 << 20

    static func limit(allowance: Int?) -> Int {
        allowance.map { min(most, Int(Double($0) * share)) } ?? unknown
    }
}
