// `patchbay console` [cli.console-link]: a link to the operator's console that signs in, and where there is none, why.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { configurationOf, KEY, type TestGateway } from "../harness/gateway.ts";
import { adminFile } from "../http/admin/admin.ts";
import { type Installation, makeInstallation } from "./installation.ts";

/** As its operator may choose one; letters that an address spells otherwise are among them. */
const CHOSEN = 'the-operator\'s-own-"50%41<key>"';
let installation: Installation;
let gateway: TestGateway;
before(async () => {
  installation = await makeInstallation();
  gateway = await installation.start({ file: withKey });
  await listeningAt(Number(new URL(gateway.adminOrigin).port));
});
after(async () => {
  await gateway.close();
  await installation.close();
});

const withKey = (sandbox: Installation["sandbox"]) => ({
  ...adminFile(sandbox),
  operator_keys: [{ id: "operator", secret: CHOSEN }],
});

/** What the configuration says of the admin listener from now on; null: that there is none. */
async function listeningAt(port: number | null): Promise<void> {
  const server = { admin: port === null ? null : { host: "0.0.0.0", port } };
  await configurationOf({ ...withKey(installation.sandbox), server }, installation.dataDir);
}

test("cli.console-link: the link leads to the configured listener and has the configured key behind its #; it alone is on stdout", async () => {
  const { exitCode, stdout, stderr } = await installation.patchbay("console");
  assert.equal(exitCode, 0, stderr);
  assert.equal(stdout, `${gateway.adminOrigin}/console#key=${encodeURIComponent(CHOSEN)}\n`);
  assert.match(stderr, /contains the operator key: anyone who has it has full access/u);
  const bare = await installation.patchbay("console", "--no-key");
  assert.deepEqual([bare.exitCode, bare.stdout], [0, `${gateway.adminOrigin}/console\n`]);
  assert.ok(!(bare.stdout + bare.stderr).includes("50%"));
  const json = await installation.patchbay("console", "--no-key", "--json");
  assert.deepEqual(JSON.parse(json.stdout), { object: "console", url: `${gateway.adminOrigin}/console`, link: null });
});

test("cli.console-link: a gateway that is named is called with the key that is given, or the one that was saved here", async () => {
  const named = ["console", "--url", gateway.adminOrigin, "--json"];
  const given = await installation.patchbay(...named, "--api-key", CHOSEN);
  assert.equal(given.exitCode, 0, given.stderr);
  const none = await installation.patchbay(...named);
  assert.equal(none.exitCode, 3);
  assert.match(none.stderr, /There is no API key[^]*configured under operator_keys/u);
  writeFileSync(join(installation.dataDir, "operator-key"), `${CHOSEN}\n`);
  const { link } = JSON.parse((await installation.patchbay(...named)).stdout) as { link: string };
  assert.equal(decodeURIComponent(new URL(link).hash), `#key=${CHOSEN}`);
});

test("cli.console-link: a link that leads nowhere or signs no one in is not printed: the command ends with the usual exit code for the failure", async () => {
  const ofApp = await installation.patchbay("console", "--api-key", KEY);
  assert.deepEqual([ofApp.exitCode, ofApp.stdout], [3, ""]);
  const unreachable = await installation.patchbay("console", "--url", "http://127.0.0.1:2", "--api-key", CHOSEN);
  assert.deepEqual([unreachable.exitCode, unreachable.stdout], [7, ""]);
  await listeningAt(null);
  const off = await installation.patchbay("console");
  assert.deepEqual([off.exitCode, off.stdout], [5, ""]);
  assert.match(off.stderr, /console is disabled \(server\.admin: null\)/u);
  const asJson = await installation.patchbay("console", "--json");
  assert.deepEqual(Object.keys(JSON.parse(asJson.stdout) as object), ["error"]);
});
