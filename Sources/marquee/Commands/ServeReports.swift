import CatalogueService
import HTTPServer
import LazyImages
import ServiceOperations
import SystemSupport

/// What a running service tells its operator on standard error: failures, and that tokens are refused. Repeated messages
/// become counts.
struct ServeReports {
    private let failures, refusals: RepeatedMessages
    private let refusedTokens = Counter()

    init(_ output: Output) {
        failures = RepeatedMessages { output.failure($0) }
        // Ignored: the task that waits is never cancelled.
        refusals = RepeatedMessages(pause: { try? await Task.sleep(for: .seconds(60)) }) {
            output.failure($0)
        }
    }

    /// Gets the failures and the refused tokens of a service.
    func attach(to configuration: inout CatalogueService.Configuration) {
        let clients = configuration.clients
        // No client is locked out: behind a proxy all may seem to be one.
        configuration.films.reportRefusedToken = { [refusedTokens, refusals] head, peer in
            refusedTokens.add()
            let client = clients.client(of: head, from: peer)
            refusals.report("tokens are refused", client.map { ", the last from \($0)" } ?? "")
        }
        configuration.reportFailure = { [failures] error in
            // Only the operator learns which address it was, and can allow it.
            var advice = ""
            if case .addressRefused(_, .address, _)? = error as? ImageLoadingError {
                advice = "; --allow-private with its network allows it"
            }
            failures.report("\(error)\(advice)")
        }
    }

    func register(in metrics: Metrics) {
        metrics.counter("marquee_refused_tokens_total", "Requests with an unknown token.") {
            [refusedTokens] in
            Double(refusedTokens.value)
        }
    }

    /// Prints the counts that no line has had yet.
    func flush() {
        failures.flush()
        refusals.flush()
    }
}
