import Hashing

/// The pages' design: a repertory cinema's programme, ink on paper by day, paper on ink by night.
///
/// Its address contains its version, so caches may keep it for ever.
enum Stylesheet {
    /// The hash of the text.
    static let version = String(text.utf8.fnv1a, radix: 36)

    static let name = version + ".css"

    static let text = """
        :root {
          color-scheme: light dark;
          --paper: #f5ecdb; --sheet: #fcf7ec; --ink: #14161a; --soft: #5d564a; --line: #d8cbb2;
          --accent: #b3281f; --on-accent: #fff8ec; --shade: rgb(60 40 10 / .28);
          --display: "Bebas Neue", "League Gothic", "Oswald", "Roboto Condensed", "Avenir Next Condensed",
            "Arial Narrow", "Liberation Sans Narrow", "Nimbus Sans Narrow", Impact, sans-serif;
          --text: "Avenir Next", "Segoe UI", "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #14161a; --sheet: #1e2127; --ink: #f2e8d5; --soft: #b0a795; --line: #393d45;
            --accent: #f0c54a; --on-accent: #14161a; --shade: rgb(0 0 0 / .6);
          }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scrollbar-gutter: stable; }
        body {
          margin: 0 auto; max-width: 100rem; padding: 0 clamp(1rem, 3vw, 3rem) 2rem; min-height: 100vh;
          display: flex; flex-direction: column;
          background: var(--paper); color: var(--ink); font: 1rem/1.5 var(--text); overflow-wrap: anywhere;
        }
        main { flex: 1; }
        a { color: inherit; text-underline-offset: .2em; }
        h1, h2, .name, .numeral, .cover, .best .frame::before {
          font-family: var(--display); font-weight: 700; font-stretch: condensed;
          text-transform: uppercase; line-height: .95; letter-spacing: -.01em; margin: 0;
        }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        .skip { position: absolute; left: 1rem; top: -6rem; z-index: 2; padding: .5rem 1rem;
          background: var(--accent); color: var(--on-accent); }
        .skip:focus { top: .5rem; }

        .masthead { display: grid; grid-template-columns: 1fr auto; align-items: end; gap: .75rem 2rem;
          padding: clamp(1rem, 3vw, 2.25rem) 0 .9rem; border-bottom: 4px solid var(--ink); margin-bottom: 1.25rem; }
        .name { grid-column: 1 / -1; font-size: clamp(3rem, 11vw, 7.5rem); }
        p.name { font-size: clamp(1.75rem, 5vw, 2.5rem); }
        .name a { text-decoration: none; display: inline-block; }
        nav a { display: inline-block; padding: .4rem 0; margin-right: 1.25rem; text-decoration: none;
          font-weight: 600; border-bottom: 2px solid transparent; }
        nav a:hover { border-color: currentcolor; }
        nav a[aria-current] { color: var(--accent); border-color: currentcolor; }
        .search { display: flex; }
        input, textarea, button, .button { font: inherit; color: inherit; border-radius: 0; }
        input, textarea { background: var(--sheet); border: 2px solid var(--ink); padding: .45rem .7rem; width: 100%;
          min-width: 0; }
        ::placeholder { color: var(--soft); opacity: 1; }
        .search input { width: 17rem; border-right: 0; appearance: none; }
        button, .button { display: inline-block; white-space: nowrap; cursor: pointer; font-weight: 600; padding: .45rem 1.1rem;
          border: 2px solid var(--ink); background: var(--ink); color: var(--paper); text-decoration: none; }
        .quiet, .actions a.button { background: transparent; color: var(--ink); }
        button:hover, .button:hover { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        .actions a.button:hover { color: var(--on-accent); background: var(--accent); }
        .danger { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }

        .bar { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.5rem; margin-bottom: 1rem; }
        .bar h1 { font-size: clamp(2.25rem, 7vw, 4.5rem); flex-basis: 100%; }
        .count { color: var(--soft); margin: 0; flex: 1; }
        .orders a:last-child, .letters a:last-child { margin-right: 0; }
        .letters { display: grid; grid-template-columns: repeat(26, 1fr); margin: 0 0 1.25rem;
          border-block: 1px solid var(--line); }
        .letters a { margin: 0; padding: .35rem 0; text-align: center; color: var(--soft); }

        .wall { list-style: none; margin: 0; padding: 0; display: grid; gap: 1.75rem 1.25rem;
          grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); }
        .film { display: block; text-decoration: none; }
        .film strong { display: block; margin-top: .7rem; line-height: 1.25; }
        .film small { display: block; color: var(--soft); font-size: .875rem; line-height: 1.4; }
        .film strong, .film small { overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical;
          -webkit-line-clamp: 2; line-clamp: 2; }
        .film:hover strong { text-decoration: underline; text-decoration-thickness: 2px; }
        .score { white-space: nowrap; color: var(--accent); font-weight: 600; }
        .frame { position: relative; display: block; aspect-ratio: 2 / 3; overflow: hidden;
          box-shadow: 0 1px 2px var(--shade), 0 8px 20px -6px var(--shade); transition: transform .18s, box-shadow .18s; }
        .film:hover .frame, .film:focus-visible .frame { transform: translateY(-5px);
          box-shadow: 0 2px 4px var(--shade), 0 18px 30px -8px var(--shade); }
        .frame img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; color: transparent; }
        /* Drawn only where there is no picture: over the browser's own mark of that. */
        .frame img::before { content: ""; position: absolute; left: 0; top: 0; width: 1.25rem; height: 1.25rem;
          background: var(--corner); }
        .cover { position: absolute; inset: auto 8% 7%; max-height: 34%; overflow: hidden;
          font-size: 1.45rem; line-height: 1; text-wrap: balance; }
        .detail .cover { font-size: clamp(2rem, 5vw, 3.25rem); }
        .cover-0 { --corner: #1b2440; background: radial-gradient(circle at 50% 34%, #e58a2f 0 29%, transparent 29.5%) #1b2440; color: #f2e8d5; }
        .cover-1 { --corner: #14161a; background: repeating-linear-gradient(90deg, #14161a 0 4%, transparent 4% 12%) 0 0 / 100% 58% no-repeat #f0c54a;
          color: #14161a; }
        .cover-2 { --corner: #f2e8d5; background: linear-gradient(135deg, #f2e8d5 0 33%, transparent 33.3%) #a92c22; color: #f2e8d5; }
        .cover-3 { --corner: #23696a; background: radial-gradient(circle at 50% 34%, transparent 0 14%, #f2e8d5 14.4% 19%, transparent 19.4% 25%,
          #f2e8d5 25.4% 29%, transparent 29.4%) #23696a; color: #f2e8d5; }
        .cover-4 { --corner: #d98c9f; background: conic-gradient(from 155deg at 50% 0, #14161a 0 50deg, transparent 50.2deg)
          0 0 / 100% 60% no-repeat #d98c9f; color: #14161a; }
        .cover-5 { --corner: #f2e8d5; background: linear-gradient(#3e7c59 0 0) 50% 22% / 44% 30% no-repeat,
          linear-gradient(#14161a 0 0) 62% 32% / 44% 30% no-repeat #f2e8d5; color: #14161a; }

        .wall.best { counter-reset: place; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); gap: 2.5rem 2rem; }
        .best li { counter-increment: place; }
        .best .frame::before { content: counter(place); position: absolute; z-index: 1; left: 0; top: 0;
          min-width: 1.35em; padding: .2em .3em .14em; text-align: center; font-size: 3.25rem;
          background: var(--accent); color: var(--on-accent); }
        .pages { display: flex; justify-content: center; gap: 1.5rem; margin-top: 2.5rem; font-size: 1.125rem; }
        .pages a { margin: 0; padding: .5rem 1rem; }

        .detail { display: grid; gap: clamp(1.5rem, 4vw, 4rem); align-items: start; }
        .picture { width: min(100%, 22rem); margin-inline: auto; }
        .facts { max-width: 42rem; min-width: 0; }
        .facts h1 { font-size: clamp(2.75rem, 8vw, 5.5rem); text-wrap: balance; }
        .facts p { margin: .75rem 0; }
        .genres a { display: inline-block; font-size: .875rem; padding: .1rem .7rem; margin: 0 .3rem .3rem 0;
          border: 1px solid var(--line); border-radius: 1rem; text-decoration: none; }
        .genres a:hover { border-color: var(--accent); color: var(--accent); }
        .original { font-size: 1.375rem; font-style: italic; line-height: 1.2; }
        .line { color: var(--soft); }
        .facts .standing { display: flex; align-items: baseline; gap: .5rem; margin: 1.5rem 0; padding: .75rem 0;
          border-block: 1px solid var(--line); }
        .standing strong { font: 700 3.25rem/1 var(--display); color: var(--accent); }
        .standing small { color: var(--soft); margin-left: auto; }
        .overview { font-size: 1.1875rem; line-height: 1.6; white-space: pre-line; }
        .vote { display: flex; flex-wrap: wrap; align-items: end; gap: .75rem; margin: 2rem 0 1rem; padding: 1rem;
          background: var(--sheet); border: 1px solid var(--line); }
        .vote h2 { flex-basis: 100%; font-size: 1.5rem; }
        .vote .field-rater { flex: 1 1 9rem; } .vote .field-value { flex: 0 1 7rem; }
        .actions { display: flex; gap: .75rem; flex-wrap: wrap; }

        .sheet, .problem, .empty { max-width: 44rem; margin-inline: auto; }
        .sheet h1, .problem h1 { font-size: clamp(2.25rem, 7vw, 4rem); margin-bottom: 1.25rem; }
        .fields { display: grid; gap: 1.1rem 1rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
        .fields > * { grid-column: 1 / -1; }
        .field-year, .field-director { grid-column: 1; } .field-minutes, .field-country { grid-column: 2; }
        label { display: block; font-weight: 600; margin-bottom: .25rem; }
        textarea { resize: vertical; display: block; }
        [aria-invalid] { border-color: var(--accent); border-left-width: .5rem; }
        .fault { margin: .3rem 0 0; color: var(--accent); font-weight: 600; }
        .alert { border-left: .5rem solid var(--accent); background: var(--sheet); padding: .75rem 1rem; }
        .problem, .empty { padding: 6vh 0; }
        .problem .numeral { font-size: clamp(7rem, 30vw, 15rem); color: var(--accent); line-height: .8; margin-bottom: 1rem; }
        .problem .reason::first-letter, .alert::first-letter { text-transform: uppercase; }
        .empty { text-align: center; font-size: 1.25rem; }
        footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
        .leave { float: right; }
        .leave button { background: none; border: 0; padding: 0; color: inherit; text-decoration: underline; cursor: pointer; }

        @media (max-width: 44rem) {
          .masthead { grid-template-columns: 1fr; }
          .search input { width: 100%; }
          .wall { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.5rem 1rem; }
          .wall.best { grid-template-columns: minmax(0, 20rem); justify-content: center; }
          .orders { flex-basis: 100%; }
          .letters { grid-template-columns: repeat(9, 1fr); }
          .picture { width: min(78%, 20rem); }
        }
        @media (min-width: 44rem) {
          .detail { grid-template-columns: minmax(16rem, 5fr) 7fr; padding-top: 1rem; }
          .picture { width: min(100%, 28rem); margin: 0; position: sticky; top: 1.5rem; }
        }
        @media (prefers-reduced-motion: reduce) {
          .frame { transition: none; }
          .film:hover .frame, .film:focus-visible .frame { transform: none; }
        }
        @media (forced-colors: active) { .frame { border: 1px solid; } }
        @media print { .masthead nav, .search, .vote, .actions, .pages, .letters, .orders { display: none; } }

        """
}

/// The pages' icon: a cut-paper moon over a hill.
enum Icon {
    static let name = "icon.svg"

    static let text = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
          <rect width="32" height="32" rx="5" fill="#14161a"/>
          <circle cx="16" cy="13" r="8.5" fill="#f0c54a"/>
          <path d="M3 27c6-10 10-10 14-4 4-5 8-5 12 4z" fill="#b3281f"/>
        </svg>

        """
}
