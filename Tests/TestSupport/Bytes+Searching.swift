extension [UInt8] {
    /// Whether the bytes contain others, one after the other.
    public func contains(sequence: [UInt8]) -> Bool {
        indices.contains { self[$0] == sequence.first && self[$0...].starts(with: sequence) }
    }

    /// Whether the bytes contain a text's bytes.
    public func contains(sequence: String) -> Bool { contains(sequence: Array(sequence.utf8)) }
}
