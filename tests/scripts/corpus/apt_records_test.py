"""Reading apt's records."""

import unittest

from apt_records import Package, parse_records, read_packages

PACKAGES = """\
Package: zip
Version: 3.0-13
Source: zip-src (3.0-12)
Description: Archiver for .zip files
Description-md5: 11

Package: gimp
Tag: role::program,
 uitoolkit::gtk
Description: GNU Image Manipulation Program
Description-md5: 22

Package: zip
Version: 2.9
Description-md5: 33

Package: bare
"""
DESCRIPTIONS = """\
Package: zip
Description-md5: 11
Description-en: Archiver  for .zip files
 This is InfoZIP's zip program.
 .
 It packs: files.

Package: old
Description-md5: 44
Description-en: gone
"""


class AptRecordsTest(unittest.TestCase):
    def test_joins_the_long_description_of_the_same_version(self):
        zip_package = {p.name: p for p in read_packages(PACKAGES, DESCRIPTIONS)}["zip"]
        self.assertEqual(zip_package, Package(
            "zip", "zip-src", "Archiver for .zip files",
            " This is InfoZIP's zip program.\n .\n It packs: files."))

    def test_package_without_long_description_keeps_its_synopsis(self):
        gimp = {p.name: p for p in read_packages(PACKAGES, DESCRIPTIONS)}["gimp"]
        self.assertEqual(gimp, Package("gimp", "gimp", "GNU Image Manipulation Program", ""))

    def test_each_package_comes_once_in_order_of_names(self):
        names = [p.name for p in read_packages(PACKAGES, DESCRIPTIONS)]
        self.assertEqual(names, ["bare", "gimp", "zip"])

    def test_broken_records_are_passed_over(self):
        text = " continues nothing\nno colon\nPackage: a\n\n\n\nVersion: 1\n\nPackage: b"
        self.assertEqual(list(parse_records(text, ["Package"])),
                         [{"Package": "a"}, {"Package": "b"}])
        self.assertEqual(read_packages("", ""), [])


if __name__ == "__main__":
    unittest.main()
