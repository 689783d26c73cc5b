extension ImageDownloader {
    /// Ends every transfer, and those that wait for a place, whose callers all have a lower priority than `.normal`: nobody
    /// looks at what they bring.
    /// - Returns: how many.
    @discardableResult
    package func stopUnseen() -> Int {
        let unseen = flights.flights(below: .normal)
        for (key, flight, task) in unseen {
            land(key, flight, .failure(.memoryShort(url: String(key.url))))
            task?.cancel()
            wasAbandoned(flight)
        }
        return unseen.count
    }
}
