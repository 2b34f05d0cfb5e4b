#!/usr/bin/env bash
# F12 writes a picture of the window, Shift+F12 a clip, and both go on where they cannot.   screenshot.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
source "$here/png.sh"

pictures() { find . -name 'attnscope-*.png' | sort; }
pictures_are() { (($(pictures | wc -l) == $1)); }

start
press F12
wait_for "a picture" pictures_are 1
press F12
wait_for "a second picture, not over the first" pictures_are 2
for picture in $(pictures); do
    [[ $(png_size "$picture") == 1600x1000 ]] || fail "$picture is $(png_size "$picture"), not 1600x1000"
done
# A clip has the frames from one key to the other.
does '"action":"record_clip","on":true' press shift+F12
does '"action":"go_to_stage"\|"action":"step_by"' press Left
does '"action":"set_scaling"' press s
does '"action":"record_clip","on":false' press shift+F12
wait_for "a clip" pictures_are 3
clip=$(grep -l acTL $(pictures)) || fail "no picture is animated"
[[ $(png_size "$clip") == 1600x1000 ]] || fail "the clip is $(png_size "$clip"), not 1600x1000"
(($(grep -ao fcTL "$clip" | wc -l) >= 3)) || fail "the clip has fewer than three frames"
leaves

# A clip as MP4 goes through the ffmpeg on the path: this one writes its input's first bytes.
mkdir "$work/bin"
cat >"$work/bin/ffmpeg" <<'END'
#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = -i ] && from=$2; shift; done
head -c 8 "$from" >"$1"
END
chmod +x "$work/bin/ffmpeg"
PATH="$work/bin:$PATH" start
does '"action":"record_clip_as","format":"mp4"' palette "Record a clip as MP4"
does '"action":"set_scaling"' press s
does '"action":"record_clip","on":false' press shift+F12
videos() { find . -name 'attnscope-*.mp4'; }
a_video_is_there() { [[ -n $(videos) ]]; }
wait_for "a video" a_video_is_there
[[ $(stat -c %s "$(videos)") == 8 ]] || fail "the video is not what ffmpeg made"
leaves

start --screenshot-dir "$work/no-such-folder" 2>error.txt
press F12
wait_for "the reason on standard error" grep -q no-such-folder error.txt
does '"action":"set_workspace"' press 2
pictures_are 3 || fail "a picture is written without its folder"
leaves
