// Addresses of PostgreSQL servers: what the driver can read is accepted, what it would misread is refused before it connects.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isPostgresUrl, isReadablePostgresUrl } from "../../src/lib/postgres-url.ts";

test("configuration.postgres-url: a server address that the driver can read is accepted, a socket's and a single percent sign too", () => {
  for (const url of [
    "postgres://u:p@db.internal:5432/patchbay",
    "postgresql://u:p@db.internal/patchbay?sslmode=verify-full&sslrootcert=/etc/ca.pem",
    "postgres://db.internal/patchbay?user=patchbay@tenant",
    "postgres://db.internal:5432/name@part",
    "postgres://u:p%2Fq%23@[::1]:5432/patchbay",
    "postgres://u:100%@db.internal/patchbay",
    "postgres://u:p@/patchbay?host=/run/postgresql",
    "postgres:///patchbay",
  ])
    assert.ok(isPostgresUrl(url) && isReadablePostgresUrl(url), url);
});

test("configuration.postgres-url: a password that is not encoded is a fault, and no part of it is used as a port or host", () => {
  for (const url of [
    "postgres://u:se/cret@db.internal:5432/patchbay",
    "postgres://u:12/34@db.internal:5432/patchbay",
    "postgres://u:12#34@db.internal/patchbay",
    "postgres://u:12?34@db.internal/patchbay",
    "postgres://u:se@cr/et@db.internal:5432/patchbay",
    "postgres://u:se@cr#et@db.internal/patchbay",
    "postgres://u:p@db.internal:port/patchbay",
    "postgres://u:p@one.internal:5432,two.internal:5432/patchbay",
  ])
    assert.ok(isPostgresUrl(url) && !isReadablePostgresUrl(url), url);
  for (const other of ["mysql://u:p@h/x", "postgres://", "postgres://u:p w@h/x", "h:5432/x"])
    assert.ok(!isPostgresUrl(other), other);
});
