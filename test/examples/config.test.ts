// The files of examples/config, checked by `patchbay config validate` with the variables that they name.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { run } from "../cli/fake-gateway.ts";
import { ROOT } from "./example-gateway.ts";

const FILES = globSync("examples/config/*/patchbay.yaml", { cwd: ROOT }).toSorted();
/** Whose values have a form of their own. */
const VALUES: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://patchbay_runtime@db.internal:5432/patchbay",
  PATCHBAY_MIGRATE_URL: "postgres://patchbay_owner@db.internal:5432/patchbay",
  PATCHBAY_PUBLIC_URL: "https://speech.example.com",
};

function variablesOf(file: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(ROOT, file), "utf8");
  const names = [...text.matchAll(/\$\{env:([A-Z0-9_]+)\}/gu)].map(([, name = ""]) => name);
  return Object.fromEntries(
    names.map((name) => [name, VALUES[name] ?? createHash("sha256").update(name).digest("base64")]),
  );
}

test("configuration.example-files: there is an example for each of the three situations", () => {
  assert.deepEqual(
    FILES.map((file) => dirname(file).split(/[/\\]/u).at(-1)),
    ["laptop", "production", "team"],
  );
});

for (const file of FILES)
  test(`configuration.example-files: ${file} is valid with the variables that it names, and with no fewer`, async () => {
    const env = variablesOf(file);
    const validated = await run(["config", "validate", "--config", join(ROOT, file)], { env });
    assert.equal(validated.exitCode, 0, validated.stdout + validated.stderr);
    for (const name of Object.keys(env)) {
      const loaded = loadConfiguration({ file: join(ROOT, file), env: { ...env, [name]: "" }, cwd: ROOT });
      assert.ok(!loaded.ok && loaded.faults.some(({ message }) => message.includes(name)), name);
    }
  });
