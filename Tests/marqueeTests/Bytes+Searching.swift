extension [UInt8] {
    /// Whether the bytes contain a text's bytes.
    func contains(sequence: String) -> Bool {
        let wanted = Array(sequence.utf8)
        return indices.contains { self[$0...].starts(with: wanted) }
    }
}
