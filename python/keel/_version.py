"""The version. A test checks that it is that of Keel's build."""

version = "0.1.0"
