import TerminalGraphics

/// The commands for the selected film, and for an address.
extension BrowserLoop {
    func play() {
        guard !playing.isUnderWay, let media = state.list.selectedMovie?.media else { return }
        do {
            let base = state.list.films.base
            guard let fault = try playing.begin(media, relativeTo: base, with: environment.player) else {
                return
            }
            state.notice = fault
            startOver()
        } catch {
            isDone = true
        }
    }

    func endPlaying(_ ending: PlayerEnding) {
        do {
            state.notice = try playing.end(ending)
            startOver()
        } catch {
            isDone = true
        }
    }

    func copyAddress() {
        do {
            let copying = try SelectedPoster(state.list, environment).copying()
            try terminal.write(copying.bytes)
            state.notice = copying.notice
        } catch let failure as Failure {
            state.notice = failure.description
        } catch {
            isDone = true
        }
    }

    func savePoster() {
        do {
            try SelectedPoster(state.list, environment).save(environment) { [mailbox] in
                mailbox.send(.said($0))
            }
            state.notice = "Saving the poster…"
        } catch {
            state.notice = error.description
        }
    }

    func open(_ text: String) {
        do {
            let size = graphics.canvas?.pictureSize(for: state.layout.page.size)
            state.show(.opening(try opening.open(text, relativeTo: state.list.films.base, size: size)))
        } catch {
            state.notice = error.description
        }
    }

    func showAnswer() {
        guard let address = state.failure.flatMap(opening.showAnswer) else { return }
        state.show(.opening(address))
    }
}
