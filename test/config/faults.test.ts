// Golden files: what an operator reads for each broken configuration in fixtures/broken (contract 10).
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatFault } from "../../src/config/fault.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";

const DIRECTORY = join(import.meta.dirname, "fixtures", "broken");
const ENV = {
  NOT_A_NUMBER: "hush-port",
  KIND: "hush-kind",
  EMPTY: "",
  SHORT_SECRET: "hush-short",
  ROOT: "root",
  DATABASE: "mysql://hush-user:hush-password@db/x",
};

for (const name of readdirSync(DIRECTORY).filter((file) => file.endsWith(".yaml"))) {
  test(`§10 ${name}: all faults at once, each with its place and message, as in the golden file`, () => {
    const loaded = loadConfiguration({ file: name, env: ENV, cwd: DIRECTORY });
    assert.equal(loaded.ok, false);
    if (loaded.ok) return;
    const printed = `${loaded.faults.map(formatFault).join("\n")}\n`;
    assert.equal(printed, readFileSync(join(DIRECTORY, name.replace(".yaml", ".faults")), "utf8"));
    assert.doesNotMatch(printed, /hush/, "no value of a variable appears in a fault");
  });
}
