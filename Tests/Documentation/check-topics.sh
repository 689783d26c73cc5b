#!/bin/bash
# Checks that the library's first page names every public type: in Topics, or in the text if another module has it.
#   Tests/Documentation/check-topics.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
page=Sources/LazyImages/LazyImages.docc/LazyImages.md
count=0 missing=0
for module in LazyImages ImageCodecs HTTPSemantics BackgroundTransfers PictureService; do
    for type in $(grep -rhoE '^public (final |indirect )*(class|struct|enum|protocol|actor|typealias) \w+' \
        "Sources/$module" --include='*.swift' | awk '{ print $NF }' | sort); do
        count=$((count + 1))
        name="\`$type\`"
        if [ "$module" = LazyImages ]; then name="^- \`$name\`"; fi
        if ! grep -q -- "$name" "$page"; then
            echo "$page does not name $type of $module"
            missing=$((missing + 1))
        fi
    done
done
if [ "$count" = 0 ]; then echo 'there is no public type'; exit 1; fi
if [ "$missing" = 0 ]; then echo "$page names all $count public types"; fi
[ "$missing" = 0 ]
