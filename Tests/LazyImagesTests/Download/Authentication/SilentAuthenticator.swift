import LazyImages
import TestSupport

/// Asks nobody, and gives its credential once `answer` is counted.
final class SilentAuthenticator: HTTPAuthenticator {
    let asked = Tally()
    let answer = Tally()
    private let credential: Credential?

    init(_ credential: Credential? = nil) { self.credential = credential }

    func credential(for challenge: AuthenticationChallenge) async -> Credential? {
        asked.add()
        // Ignored: only the end of a test cancels the task of a question.
        try? await answer.wait(for: 1)
        return credential
    }
}
