# Real terminals on virtual displays, for the scripts beside this one, which source it.
#
#   terminals                       the names of all known terminals
#   is_installed NAME               whether one is installed; otherwise `missing` names the missing program
#   start NAME COLSxROWS FILE       starts a terminal in which sh runs the file
#   press KEY...                    types X keysyms (j, slash, Return, ctrl+z); without a window manager
#                                   they go to the window under the pointer
#   still OUT.png                   captures the screen once it is still
#   shown OUT.png                   the same, once something is on it
#   window                          WIDTHxHEIGHT+X+Y of the terminal's window
#   stop                            ends the terminal
#   each TERMINAL[:GRAPHICS]...     calls `look NAME GRAPHICS` for each (GRAPHICS is auto where it is not named); status 1 if
#                                   `failures` were counted
#
# Each has its own display (Xvfb; foot has a Wayland compositor in it), so the desktop is not affected.
# Debian's packages: xvfb xdotool imagemagick fonts-dejavu-core, and those of kitty xterm mlterm konsole foot
# weston tmux that are to be tested.

terminals='kitty xterm xterm-sixel mlterm konsole foot tmux-kitty tmux-sixel'
work=$(mktemp -d)
processes=()
font='DejaVu Sans Mono'
# Removes the variables of the terminal that runs the script, which would mislead the program.
unset COLORTERM TERM_PROGRAM TERM_PROGRAM_VERSION TMUX MLTERM KONSOLE_VERSION SSH_CONNECTION SSH_TTY NO_COLOR
export LC_ALL=C.UTF-8 SWIFT_BACKTRACE=enable=no LIBGL_ALWAYS_SOFTWARE=1
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$work/cache} XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run
mkdir -p "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"

stop() {
    local process
    for ((index = ${#processes[@]} - 1; index >= 0; index--)); do
        process=${processes[index]}
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    processes=()
}
finish() {
    stop
    rm -rf "$work"
}
trap finish EXIT

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# until_true TENTHS COMMAND...: false when the command does not succeed in that time.
until_true() {
    local limit=$1
    shift
    for ((count = 0; count < limit; count++)); do
        "$@" && return
        sleep 0.1
    done
    return 1
}

is_installed() {
    local needed program
    case $1 in
    xterm-sixel) needed=xterm ;;
    foot) needed='foot weston' ;;
    tmux-kitty) needed='tmux kitty' ;;
    tmux-sixel) needed='tmux xterm' ;;
    *) needed=$1 ;;
    esac
    for program in Xvfb xdotool compare $needed; do
        command -v "$program" >/dev/null && continue
        missing="$program is not installed"
        return 1
    done
}

start_display() {
    rm -f "$work/display"
    # The server chooses a free display and prints its number.
    Xvfb -displayfd 3 -screen 0 1920x1200x24 -nolisten tcp 3>"$work/display" 2>"$work/xvfb" &
    processes+=($!)
    until_true 100 test -s "$work/display" || fail 'Xvfb does not start'
    DISPLAY=:$(cat "$work/display")
    export DISPLAY
}

start() {
    local name=$1 columns=${2%x*} rows=${2#*x} file=$3
    start_display
    case $name in
    tmux-*)
        # Sixels need no passthrough: tmux draws them itself.
        printf 'set -g allow-passthrough on\nset -g status off\n' >"$work/tmux.conf"
        printf 'exec tmux -u -f %s -S %s/tmux new-session "sh %s"\n' "$work/tmux.conf" "$work" "$file" >"$work/tmux.sh"
        file=$work/tmux.sh
        ;;
    esac
    case $name in
    kitty | tmux-kitty)
        kitty --config NONE -o font_family="$font" -o font_size=10 -o update_check_interval=0 -o cursor_blink_interval=0 \
            -o enable_audio_bell=no -o remember_window_size=no -o initial_window_width="${columns}c" \
            -o initial_window_height="${rows}c" sh "$file" 2>"$work/terminal" &
        ;;
    xterm | xterm-sixel | tmux-sixel)
        local type=vt420
        [ "$name" = xterm ] || type=vt340
        xterm -ti "$type" -geometry "${columns}x$rows+0+0" -fa "$font" -fs 10 -bg black -fg gray90 -e sh "$file" \
            2>"$work/terminal" &
        ;;
    mlterm)
        mkdir -p "$work/.mlterm"
        HOME=$work mlterm -g "${columns}x$rows" --bg black --fg white -w 14 --sbmod none -e sh "$file" 2>"$work/terminal" &
        ;;
    konsole)
        # The size is in pixels of the window; a cell of this font has 8 x 16 or a little more.
        QT_QPA_PLATFORM=xcb konsole --separate --nofork --hide-menubar --hide-tabbar -p Font="$font,10" \
            -p ScrollBarPosition=2 -p BlinkingCursorEnabled=false -p TerminalColumns="$columns" -p TerminalRows="$rows" \
            --geometry "$((columns * 9))x$((rows * 18))+0+0" -e sh "$file" 2>"$work/terminal" &
        ;;
    foot)
        printf '[shell]\npanel-position=none\n[core]\nidle-time=0\n[output]\nname=X1\n' >"$work/weston.ini"
        weston --backend=x11-backend.so --socket=marquee --config="$work/weston.ini" --use-pixman --width=1900 --height=1100 \
            >"$work/weston" 2>&1 &
        processes+=($!)
        until_true 100 test -S "$XDG_RUNTIME_DIR/marquee" || fail 'weston does not start'
        WAYLAND_DISPLAY=marquee foot -c /dev/null -o main.font="$font:size=10" -o csd.preferred=none \
            -W "${columns}x$rows" sh "$file" 2>"$work/terminal" &
        ;;
    *) fail "no terminal $name; there are: $terminals" ;;
    esac
    processes+=($!)
}

press() {
    # The display moves the pointer when its first window appears.
    xdotool mousemove 60 60
    for key in "$@"; do xdotool key --delay 20 "$key"; done
}

# The lowest compression, since most captures are compared at once.
capture() { import -silent -quality 10 -window root "$1"; }

# differs A.png B.png: whether one or more pixels differ.
differs() { [ "$(compare -metric AE "$1" "$2" null: 2>&1 | cut -d' ' -f1)" != 0 ]; }

is_still() {
    capture "$1"
    if [ -e "$1.last" ] && ! differs "$1" "$1.last"; then
        same=$((same + 1))
    else
        same=0
        cp "$1" "$1.last"
    fi
    # The same four times, for most of a second: a terminal may draw some tenths after its start.
    [ "$same" -ge 3 ] || { sleep 0.2 && false; }
}

still() {
    same=0
    rm -f "$1.last"
    until_true 200 is_still "$1" || fail "the screen does not come to rest; see $1"
    rm -f "$1.last"
}

is_shown() {
    capture "$1"
    # The empty window has two or three colours.
    [ "$(convert "$1" -format %k info:)" -gt 16 ]
}
shown() {
    until_true 300 is_shown "$1" || fail "nothing is drawn: $(cat "$work/terminal")"
    still "$1"
}

window() {
    local id
    id=$(xdotool search --onlyvisible --class . | tail -n 1)
    xdotool getwindowgeometry --shell "$id" | awk -F= '{ value[$1] = $2 }
        END { printf "%dx%d+%d+%d\n", value["WIDTH"], value["HEIGHT"], value["X"], value["Y"] }'
}

each() {
    local mode
    failures=0
    for word in "$@"; do
        mode=${word#*:}
        [ "$mode" != "$word" ] || mode=auto
        look "${word%%:*}" "$mode"
    done
    [ "$failures" = 0 ]
}
