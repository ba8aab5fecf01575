// Finds the programs of the oldest supported PostgreSQL on this machine: as distributed, with JIT at its default.
import { existsSync } from "node:fs";
import { join } from "node:path";

export const OLDEST_VERSION = 15;

/** Debian's `postgresql-15`, or another one from PATCHBAY_TEST_POSTGRES_BIN. Null: not installed. */
export function oldestServerBin(): string | null {
  const bin = process.env["PATCHBAY_TEST_POSTGRES_BIN"] ?? `/usr/lib/postgresql/${OLDEST_VERSION}/bin`;
  return ["initdb", "postgres"].every((program) => existsSync(join(bin, program))) ? bin : null;
}

export const OLDEST_MISSING = `no PostgreSQL ${OLDEST_VERSION}: install postgresql-${OLDEST_VERSION}, or set PATCHBAY_TEST_POSTGRES_BIN to the folder of its programs`;
