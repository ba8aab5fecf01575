// Golden files: what an operator reads for each broken configuration in fixtures/broken.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatFault } from "../../src/config/fault.ts";
import { loadConfiguration } from "../../src/config/load-configuration.ts";
import { shownOutputs } from "../docs/shown-blocks.ts";
import { missingLine } from "../guides/run-guide.ts";

const DIRECTORY = join(import.meta.dirname, "fixtures", "broken");
const ENV = {
  NOT_A_NUMBER: "hush-port",
  KIND: "hush-kind",
  EMPTY: "",
  SHORT_SECRET: "hush-short",
  ROOT: "root",
  DATABASE: "mysql://hush-user:hush-password@db/x",
};

/** Files about a rule of their own. All others are about faults as such. */
const REFERENCES = ["05-dangling-references.yaml", "06-duplicates.yaml"];
const INTERPOLATION = ["07-interpolation.yaml"];
const MODELS = ["08-models.yaml"];
const SECRETS = ["09-secrets.yaml"];
const YAML = ["12-tags-and-aliases.yaml", "13-keys.yaml", "14-no-map.yaml", "15-alias-bomb.yaml"];
const TARGETS = ["20-too-many-targets.yaml"];
const EMPTY = ["19-nothing-behind-it.yaml", "empty-sections.yaml"];
const OWN = new Set([REFERENCES, INTERPOLATION, MODELS, SECRETS, YAML, TARGETS, EMPTY].flat());

function assertGolden(name: string): void {
  const loaded = loadConfiguration({ file: name, env: ENV, cwd: DIRECTORY });
  assert.equal(loaded.ok, false);
  if (loaded.ok) return;
  const printed = `${loaded.faults.map(formatFault).join("\n")}\n`;
  assert.equal(printed, readFileSync(join(DIRECTORY, name.replace(".yaml", ".faults")), "utf8"));
  assert.doesNotMatch(printed, /hush/, "no value of a variable appears in a fault");
}

for (const name of readdirSync(DIRECTORY).filter((file) => file.endsWith(".yaml") && !OWN.has(file)))
  test(`configuration.all-faults, configuration.did-you-mean: ${name}: each fault with its place and message, as in the golden file`, () =>
    assertGolden(name));

for (const name of REFERENCES)
  test(`configuration.references: ${name}: all faults at once, as in the golden file`, () => assertGolden(name));

test("configuration.references, guides.outputs: the fault that the page shows is printed", () => {
  const [shown = ""] = shownOutputs("docs/reference/configuration.md", "Faults");
  const golden = readFileSync(join(DIRECTORY, "05-dangling-references.faults"), "utf8");
  assert.equal(missingLine(shown.replace("patchbay.yaml", "05-dangling-references.yaml"), golden), null);
});

for (const name of INTERPOLATION)
  test(`configuration.faults-hide-values, configuration.empty-variable: ${name}: all faults at once, as in the golden file`, () =>
    assertGolden(name));

for (const name of MODELS)
  test(`configuration.models: ${name}: all faults at once, as in the golden file`, () => assertGolden(name));

for (const name of SECRETS)
  test(`configuration.key-secrets, configuration.postgres-url: ${name}: all faults at once, as in the golden file`, () =>
    assertGolden(name));

for (const name of YAML)
  test(`configuration.plain-yaml: ${name}: all faults at once, as in the golden file`, () => assertGolden(name));

for (const name of TARGETS)
  test(`configuration.route-targets: ${name}: all faults at once, as in the golden file`, () => assertGolden(name));

for (const name of EMPTY)
  test(`configuration.null-is-unset: ${name}: all faults at once, as in the golden file`, () => assertGolden(name));
