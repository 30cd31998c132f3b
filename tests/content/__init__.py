"""Tests of the content store."""
