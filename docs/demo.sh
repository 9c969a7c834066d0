#!/bin/sh
# The main job, on a copy of the sample vault: what an agent does, and what the owner then sees.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/sample-vault" "$work/vault"
export ZIBALDONE_VAULT="$work/vault" ZIBALDONE_CACHE_DIR="$work/cache"

say() { printf '\n\n=== %s\n' "$*"; }
agent() {
    printf '\n$ zib'
    for word in "$@"; do
        case $word in *[!A-Za-z0-9_-]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    echo
    ZIBALDONE_AGENT=demo zib "$@"
}

say "An agent searches before it writes"
agent search "dark theme" --limit 3

say "It remembers a fact about the user"
agent remember-about-user "Wants diffs shown side by side, old text on the left." --category preferences

say "The same fact again, spelt a little differently, is recognised and not written twice"
agent remember-about-user "wants diffs shown side by side, old text on the left" --category Preference

say "It remembers a decision of a project"
agent remember-about-project "The back is closed with hide glue at 60 degrees; see [[Hide glue]]." \
    --project bandurria --category decisions

say "It recalls: one bundle within a budget, with the notes that the facts link to"
agent recall "Why did we rule out white glue for the loose bars?" \
    --project bandurria --budget-tokens 600 --depth 1

say "What the owner sees: one Markdown line in her own note"
grep -n "side by side" "$work/vault/agent-memory/preferences.md"

say "She corrects it in her editor, and the next answer shows it"
sed -i.bak 's/side by side, old text on the left/one below the other/' \
    "$work/vault/agent-memory/preferences.md" && rm "$work/vault/agent-memory/preferences.md.bak"
agent search "how should diffs be shown" --limit 1
