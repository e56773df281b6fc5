"""The version; the build of Keel and this file are held equal by a test."""

version = "0.1.0"
