#!/usr/bin/env bash
# Makes the Debian package semrank-model-en of a trained general model: for
# semrank-train, which finds it as `general`, and for servers.
#
#   scripts/corpus/build_general_corpus.py --output=demo/general
#   semrank-train --preset=general --train=demo/general/train.tsv --model_dir=demo/models/general
#   deploy/debian/build_model_deb.sh demo/models/general demo/general/NOTICE demo
#
# MODEL_DIR is the model, NOTICE the licences of what it was trained on, FOLDER
# where the package goes. The same model gives the same bytes. Needs no root.
set -euo pipefail

[ $# -eq 3 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
model=$1 notice=$2 folder=$3
here=$(dirname "$(readlink -f "$0")")
name=semrank-model-en
version=$(find "$model" -mindepth 2 -maxdepth 2 -name MANIFEST.json -printf '%h\n' | sed 's#.*/##' | sort -n | tail -n 1)
[ -n "$version" ] || { echo "build_model_deb.sh: $model has no published version" >&2; exit 1; }
package_version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$here/changelog")

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
files=$root/usr/share/semrank/models/general/1 docs=$root/usr/share/doc/$name
mkdir -p "$files" "$docs" "$root/DEBIAN"
cp "$model/$version"/* "$files"
rm -f "$files/report.html"  # has the speed of its run
cp "$notice" "$docs/copyright"
sed "1s/^semrank /$name /" "$here/changelog" | gzip -9n >"$docs/changelog.Debian.gz"
cat >"$root/DEBIAN/control" <<END
Package: $name
Version: $package_version
Architecture: all
Maintainer: The semrank authors <maintainers@semrank.example>
Installed-Size: $(du -k -s "$root/usr" | cut -f 1)
Enhances: semrank-train
Section: science
Priority: optional
Description: general English model for semrank
 Knows words of general English before a ranking model has seen a click:
 semrank-train begins from it when a click log is small, and makes a model of
 a catalogue without clicks with it.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
# A fixed date, so that the same files are the same package.
date=$(sed -n 's/^ -- .*>  //p' "$here/changelog" | head -n 1)
SOURCE_DATE_EPOCH=$(date --date="$date" +%s)
export SOURCE_DATE_EPOCH
find "$root" -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$folder"
dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/${name}_${package_version}_all.deb"
