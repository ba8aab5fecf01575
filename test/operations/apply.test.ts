// `patchbay apply`: the file's objects into the storage of a running gateway, what differed, and how it ends.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { applyResult } from "../../src/contract/admin/apply.ts";
import { postForm } from "../harness/client.ts";
import { configurationOf, type TestGateway } from "../harness/gateway.ts";
import { until } from "../harness/until.ts";
import { shownOutputs } from "../docs/shown-blocks.ts";
import { missingLine } from "../guides/run-guide.ts";
import { adminFile, call, refuses } from "../http/admin/admin.ts";
import { type Installation, makeInstallation } from "./installation.ts";

let installation: Installation;
let gateway: TestGateway;
before(async () => {
  installation = await makeInstallation();
  gateway = await installation.start({ file: adminFile });
});
after(() => installation.close());

const APPLY = "/admin/v1/configuration/apply";

/** The file from now on; the running gateway's admin listener is where it says. */
async function write(change: (file: ConfigurationFile) => ConfigurationFile): Promise<void> {
  const file = adminFile(installation.sandbox);
  const { port } = new URL(gateway.adminOrigin);
  const server = { admin: { host: "127.0.0.1", port: Number(port) } };
  await configurationOf({ ...change(file), server }, installation.dataDir);
}

const withModel =
  (model: string) =>
  (file: ConfigurationFile): ConfigurationFile => ({
    ...file,
    routes: [{ id: "speech", targets: [{ connection: "dg", model }] }],
  });

async function servedBy(): Promise<string | undefined> {
  gateway.sandbox.clearCalls();
  assert.equal((await postForm(gateway.origin)).status, 200);
  return gateway.sandbox.calls.at(-1)?.model;
}

const MODEL_CHANGED = `~ route platform/speech
    targets[0].model: nova-3 -> nova-2
    targets[1]: oa/whisper-1 -> none
    version: 1 -> 2
`;

test("configuration.apply-running: while a gateway runs on the embedded database it is notified, and requests run on the new route", async () => {
  assert.equal(await servedBy(), "nova-3");
  await write(withModel("nova-2"));
  const dry = await installation.patchbay("apply", "--dry-run");
  assert.deepEqual([dry.exitCode, dry.stdout], [0, MODEL_CHANGED], dry.stderr);
  assert.match(dry.stderr, /1 change, none applied/u);
  assert.equal(await servedBy(), "nova-3");
  const done = await installation.patchbay("apply", "--json");
  assert.equal(done.exitCode, 0, done.stderr);
  const { changes, dry_run } = applyResult.parse(JSON.parse(done.stdout));
  assert.deepEqual([dry_run, changes], [false, [{ action: "changed", kind: "route", name: "platform/speech" }]]);
  await until(async () => (await servedBy()) === "nova-2");
  const again = await installation.patchbay("apply");
  assert.deepEqual([again.exitCode, again.stdout], [0, ""]);
});

test("cli.apply-warnings, configuration.ending-models: a file with a model that has ended is applied, and apply, its dry run and the API warn", async () => {
  const withEnded = (file: ConfigurationFile): ConfigurationFile => ({
    ...withModel("nova-2")(file),
    routes: [
      { id: "speech", targets: [{ connection: "dg", model: "nova-2" }] },
      { id: "ended", targets: [{ connection: "oa", model: "gpt-4.1-nano" }] },
    ],
  });
  await write(withEnded);
  const dry = await installation.patchbay("apply", "--dry-run");
  assert.match(dry.stderr, /warning: .*`oa\/gpt-4\.1-nano` ended on 2026-10-23 \(source: .*openai/u);
  const answer = await call(gateway, "POST", APPLY, { body: { dry_run: true } });
  assert.match(applyResult.parse(answer.json).warnings.join(), /gpt-4\.1-nano/u);
  const done = await installation.patchbay("apply", "--json");
  assert.deepEqual([done.exitCode, applyResult.parse(JSON.parse(done.stdout)).warnings.length], [0, 1]);
  await write(withModel("nova-2"));
  assert.equal((await installation.patchbay("apply")).exitCode, 0);
});

test("configuration.apply-all-or-nothing, configuration.apply-own-file: a file with faults changes nothing: exit 9 here, and every fault from a gateway that reads it", async () => {
  // Written, and found to be broken by the test's own reading of it.
  await assert.rejects(
    write((file) => ({ ...file, routes: [{ id: "speech", targets: [{ connection: "dgg", model: "nova-3" }] }] })),
  );
  const faulty = await installation.patchbay("apply");
  assert.equal(faulty.exitCode, 9);
  assert.match(faulty.stderr, /did you mean `dg`/u);
  await refuses(gateway, [400, "INVALID_REQUEST"], () => call(gateway, "POST", APPLY, { body: {} }));
  await refuses(gateway, [409, "CONFLICT"], () => call(gateway, "POST", APPLY, { body: { file: "/elsewhere.yaml" } }));
  assert.equal(await servedBy(), "nova-2");
});

test("configuration.release, configuration.removed-keys, configuration.apply-no-secrets: what the file no longer lists becomes unmanaged, its keys are revoked; no secret is in the difference", async () => {
  await write(({ connections = [], workspaces = [], ...file }) => ({
    ...withModel("nova-2")(file),
    connections: [...connections, { id: "extra", kind: "deepgram", api_key: "extra-secret-0001" }],
    workspaces,
  }));
  assert.match((await installation.patchbay("apply")).stdout, /^\+ connection platform\/extra\n$/u);
  await write(({ workspaces = [], ...file }) => ({
    ...withModel("nova-2")(file),
    workspaces: workspaces.map((workspace) =>
      workspace.id === "other" ? { ...workspace, admin_keys: [] } : workspace,
    ),
  }));
  const { stdout, exitCode } = await installation.patchbay("apply");
  assert.equal(exitCode, 0);
  assert.match(stdout, /^o connection platform\/extra \(no longer in the file/mu);
  assert.match(stdout, /^- key other\/other-admin …0001$/mu);
  assert(!stdout.includes("secret"));
});

test("cli.apply-values, configuration.apply-no-secrets: of a changed object each value is printed, old and new, and of a credential its last characters", async () => {
  const withSettings =
    (apiKey: string, seconds: number, requests: number) =>
    ({ connections = [], workspaces = [], ...file }: ConfigurationFile): ConfigurationFile => ({
      ...withModel("nova-2")(file),
      connections: [
        ...connections,
        { id: "extra", kind: "deepgram", api_key: apiKey, timeout_seconds: seconds, models: { "Nova Two": MODEL } },
      ],
      workspaces: workspaces.map((workspace) => ({
        ...workspace,
        ...(workspace.id === "other" ? { admin_keys: [] } : {}),
        apps: (workspace.apps ?? []).map((app) => ({ ...app, quota: { requests_per_minute: requests } })),
      })),
    });
  await write(withSettings("first-credential-0001", 60, 10));
  assert.equal((await installation.patchbay("apply")).exitCode, 0);
  await write(withSettings("other-credential-0002", 90, 20));
  const { stdout, exitCode } = await installation.patchbay("apply", "--dry-run");
  assert.equal(exitCode, 0);
  assert.match(
    stdout,
    /^~ connection platform\/extra\n {4}api_key: …0001 \([0-9a-f]{8}\) -> …0002 \([0-9a-f]{8}\)\n {4}timeout_seconds: 60 -> 90\n/mu,
  );
  assert.match(stdout, /^~ app acme\/notes\n {4}quota\.requests_per_minute: 10 -> 20$/mu);
  assert.doesNotMatch(stdout, /credential/u);
  await write(({ workspaces = [], ...file }) => ({
    ...withModel("nova-2")(file),
    workspaces: workspaces.map((workspace) =>
      workspace.id === "other" ? { ...workspace, admin_keys: [] } : workspace,
    ),
  }));
  assert.equal((await installation.patchbay("apply")).exitCode, 0);
});

const MODEL = { capabilities: ["audio_input" as const] };

const MODEL_CHANGED_BACK = `~ route platform/speech
    targets[0].model: nova-2 -> nova-3
    version: 2 -> 3
`;

test("configuration.apply-stopped: without a gateway the storage is changed directly, and the next start uses it", async () => {
  await gateway.close();
  await write(withModel("nova-3"));
  const { exitCode, stdout, stderr } = await installation.patchbay("apply");
  assert.deepEqual([exitCode, stdout], [0, `+ key other/other-admin …0001\n${MODEL_CHANGED_BACK}`], stderr);
  const database = await installation.open();
  const versions = await database.db
    .selectFrom("routes")
    .select(["id", "version"])
    .where("id", "=", "speech")
    .execute();
  assert.deepEqual(versions, [{ id: "speech", version: 3 }]);
  await database.close();
});

test("configuration.release, guides.outputs: created, changed, unmanaged and removed objects are printed as the page shows them", async () => {
  await write(({ connections = [], ...file }) => ({
    ...withModel("nova-3")(file),
    connections: [...connections, { id: "old", kind: "deepgram", api_key: "old-secret-0001" }],
  }));
  assert.equal((await installation.patchbay("apply")).exitCode, 0);
  await write(({ connections = [], workspaces = [], ...file }) => ({
    ...withModel("nova-2")(file),
    connections: [...connections, { id: "spare", kind: "deepgram", api_key: "spare-secret-0001" }],
    workspaces: workspaces.map((workspace) =>
      workspace.id === "other" ? { ...workspace, admin_keys: [] } : workspace,
    ),
  }));
  const { stdout } = await installation.patchbay("apply", "--dry-run");
  const [shown = ""] = shownOutputs("docs/reference/configuration.md", "Apply");
  assert.equal(missingLine(shown, stdout), null, stdout);
  assert.equal(stdout.trimEnd().split("\n").length, shown.split("\n").length, stdout);
});
