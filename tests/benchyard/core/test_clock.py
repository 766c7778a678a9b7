"""Moments as texts."""

from datetime import UTC, datetime, timedelta, timezone

from benchyard.core.clock import iso_utc


def test_moments_are_written_in_utc() -> None:
    there = timezone(timedelta(hours=2))
    assert iso_utc(datetime(2026, 11, 1, 1, tzinfo=there)) == "2026-10-31T23:00:00Z"
    assert iso_utc(datetime(2026, 11, 1, 1, 0, 0, 250, tzinfo=UTC)) == "2026-11-01T01:00:00.000250Z"
