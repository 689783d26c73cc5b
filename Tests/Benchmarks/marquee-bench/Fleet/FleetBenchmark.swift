/// What `--instances` (1000) instances of the picture service cost behind a balancer, by simulation.
func fleetBenchmark(_ options: Options) -> [BenchmarkResult] {
    var fleet = FleetSimulation()
    fleet.instances = options.number("instances", default: fleet.instances)
    var results: [BenchmarkResult] = []
    func add(_ name: String, _ value: Double, _ unit: String, ideal: Double? = nil) {
        results.append(
            BenchmarkResult(
                name: name, unit: unit, ours: value, reference: ideal, referenceName: "ideal"))
    }
    for points in [16, 160, 1024] {
        fleet.pointsEach = points
        add("\(points) points each: sources of the busiest instance", fleet.sourceBalance().worst, "x mean")
    }
    let requests = 20 * fleet.instances
    for factor in [nil, 2, 1.5, 1.25] {
        let balance = fleet.requestBalance(requests: requests, factor: factor)
        let name = factor.map { "bound \($0)" } ?? "no bound"
        add("\(requests) requests, \(name): of the busiest instance", balance.worst, "x mean")
        add("\(requests) requests, \(name): at another instance", balance.elsewhere * 100, "%")
    }
    let all = Array(0..<fleet.instances)
    let changes = [
        ("an instance added", all + [fleet.instances], 100 / Double(fleet.instances + 1)),
        ("an instance lost", Array(all.dropLast()), 100 / Double(fleet.instances)),
        ("a zone of three lost", fleet.withoutZone, 100 - fleet.share(of: fleet.withoutZone) * 100),
    ]
    for (name, remaining, ideal) in changes {
        let change = fleet.change(to: remaining)
        add("\(name): sources that moved", change.moved * 100, "%", ideal: ideal)
        add("\(name): sources that moved in vain", change.movedInVain * 100, "%")
        add("\(name): sources of the busiest instance", change.worst, "x mean")
    }
    let rate = 100 * fleet.instances
    let reads = fleet.storeReads(after: fleet.withoutZone, rate: rate, sizes: 3, seconds: 60)
    for second in [1, 10, 60] {
        add(
            "a zone lost at \(rate) requests/s: reads of the store in second \(second)",
            Double(reads[second - 1]), "")
    }
    add("a zone lost: reads of the store in a minute", Double(reads.reduce(0, +)), "")
    add(
        "a zone lost, and no store: sources fetched again",
        Double(fleet.sources) * fleet.change(to: fleet.withoutZone).moved, "")
    return results
}
