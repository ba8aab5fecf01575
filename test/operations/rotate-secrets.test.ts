// `patchbay secrets rotate` on a stopped embedded installation [tenancy.rotate]: what it wraps, counts and says.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { newId } from "../../src/contract/ids.ts";
import { sealSecret } from "../../src/storage/secrets/data-keys.ts";
import { fillDataDir, makeTemporary, openEmbedded } from "../harness/postgres/embedded-data.ts";
import { PEPPER } from "../harness/gateway.ts";
import { shownOutputs } from "../docs/shown-blocks.ts";
import { missingLine } from "../guides/run-guide.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { credentialPlace } from "../../src/storage/secrets/secret-places.ts";
import { run } from "../cli/fake-gateway.ts";

const dataDir = await makeTemporary("patchbay-rotate-");
after(() => rmSync(dataDir, { recursive: true, force: true }));
const [old, fresh, strange] = [randomBytes(32), randomBytes(32), randomBytes(32)];

/** The command, with these keys in the configuration. */
async function rotate(keys: readonly Buffer[], { isJson = true } = {}) {
  const config = join(dataDir, "patchbay.yaml");
  const encryption = keys.map((key) => key.toString("base64"));
  const secrets = { key_pepper: `base64:${PEPPER.toString("base64")}`, encryption_keys: encryption };
  writeFileSync(config, JSON.stringify({ storage: { data_dir: dataDir }, secrets }));
  return run(["secrets", "rotate", ...(isJson ? ["--json"] : []), "--config", config], { cwd: dataDir });
}

test("tenancy.rotate: without an installation the command says so, and creates neither a database nor secrets", async () => {
  const { exitCode, stderr } = await rotate([fresh]);
  assert.equal(exitCode, 4);
  assert.match(stderr, /No embedded database/u);
  assert.deepEqual(readdirSync(dataDir), ["patchbay.yaml"]);
});

test("tenancy.rotate, guides.outputs: rotated by the command, the old key is needed by nothing and may be removed", async () => {
  await fillDataDir(dataDir);
  const database = await openEmbedded(dataDir);
  const workspaceId = newId("workspace");
  const place = credentialPlace(workspaceId, "dg");
  await database.inWorkspace(workspaceId, (tx) => sealSecret(tx, createSeal({ keys: [old] }), place, "credential"));
  await database.close();

  const refused = await rotate([strange]);
  assert.equal(refused.exitCode, 9);
  const [freshId, oldId] = createSeal({ keys: [fresh, old] }).keyIds;
  const rotated = await rotate([fresh, old]);
  assert.deepEqual(JSON.parse(rotated.stdout), {
    wrapped: 1,
    keys: [
      { key: freshId, status: "current", data_keys: 1, answers: 0 },
      { key: oldId, status: "old", data_keys: 0, answers: 0 },
    ],
    large_results: 0,
  });
  const printed = await rotate([fresh, old], { isJson: false });
  const [shown = ""] = shownOutputs("docs/operations.md", "Steps");
  assert.equal(
    missingLine(shown.replaceAll(/\b(?:[0-9a-f]{8}|\d+)\b/gu, "…"), `${printed.stderr}\n${printed.stdout}`),
    null,
  );
  const alone = await rotate([fresh]);
  assert.equal((JSON.parse(alone.stdout) as { wrapped: number }).wrapped, 0);
});
