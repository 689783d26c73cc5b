import SystemSupport

/// Reads the files of tokens, keys and sizes: at the start of the program, or again in a running service. At the start a
/// file may be a pipe, such as `<(…)` or `/dev/stdin`. Only a regular file is read again: a pipe may never have a writer.
struct SettingsReader: Sendable {
    let output: Output
    /// Whether the service runs already.
    var isRunning = false

    /// The most bytes of such a file.
    private static let limit = 1 << 20
    /// After this time the program says which file it waits for.
    private static let patience = Duration.seconds(1)

    /// What `parse` makes of a file's content. Names a file of secrets that others can read too.
    /// - Throws: what is wrong, with the file's name.
    func read<Content>(
        _ path: String, isSecret: Bool = true, _ parse: ([UInt8]) throws -> Content
    ) async throws(Failure) -> Content {
        if isSecret { warn(ifOpen: path) }
        let waiting = Task {
            // Ignored: the file was read in time.
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            output.notice("waiting for \(path); write it, and close it")
        }
        defer { waiting.cancel() }
        let file = try await Input.file(path, limit: Self.limit, isPipeAllowed: !isRunning)
        return try Failure.naming(path) { try parse(file) }
    }

    /// Names a file of secrets if others can read it too.
    func warn(ifOpen path: String) {
        // Ignored: whoever reads the file says what is wrong with it.
        guard let status = try? FileCalls().status(ofPath: path, followsLinks: true), status.isFile,
            status.isOpenToOthers
        else { return }
        output.notice("\(path): others can read it too; keep it to yourself with chmod 600")
    }
}
