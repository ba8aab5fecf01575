// `patchbay route explain` [cli.route-explain]: which installation it asks, by which version, and how it ends. That both ways say the same
// as the record of a request is for test/explain.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { configurationOf, KEY, type TestGateway } from "../harness/gateway.ts";
import { ADMIN_KEY, adminFile, call, OPERATOR_KEY } from "../http/admin/admin.ts";
import { ACME, publish, revise, targets } from "../http/admin/set-up.ts";
import { type Installation, makeInstallation } from "./installation.ts";

let installation: Installation;
let gateway: TestGateway;
before(async () => {
  installation = await makeInstallation();
  gateway = await installation.start({ file: adminFile });
  await publish(gateway, ACME, { id: "own", targets: targets(["dg", "nova-3"]) });
  await revise(gateway, ACME, "own", { targets: targets(["oa", "whisper-1"], ["dg", "nova-3"]) });
  await call(gateway, "POST", `${ACME}/apps`, { body: { slug: "mobile", route: "own" } });
});
after(() => installation.close());

const explain = (...argv: readonly string[]) => installation.patchbay("route", "explain", ...argv);

async function linesOf(...argv: readonly string[]): Promise<readonly string[]> {
  const { exitCode, stdout, stderr } = await explain(...argv);
  assert.equal(exitCode, 0, stderr);
  return stdout.trim().split("\n");
}

const LIVE = [
  "asked    audio_input: diarization",
  "purpose  none -> none  (none)",
  "route    own, version 1",
  "target   1  dg  deepgram nova-3  eligible",
  "outcome  routed",
];
const DRAFT = [
  ...LIVE.slice(0, 2),
  "route    own, version 2",
  "target   1  oa  openai whisper-1  lacks diarization; file too large",
  "target   2  dg  deepgram nova-3  eligible",
  "outcome  routed",
];
const ASKED = ["--seconds", "2400", "--audio-format", "mp3", "--diarization"];

async function write(server: object): Promise<void> {
  await configurationOf({ ...adminFile(installation.sandbox), server }, installation.dataDir);
}

test("cli.route-explain: next to a running gateway the gateway is asked, by the live version, the draft or a version's number", async () => {
  const { port } = new URL(gateway.adminOrigin);
  await write({ admin: { host: "127.0.0.1", port: Number(port) } });
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED), LIVE);
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED, "--route-version", "draft"), DRAFT);
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED, "--route", "own"), DRAFT);
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED, "--route-version", "1"), LIVE);
});

test("cli.route-explain, admin.explain-scope: a gateway that is named is asked as its operator, or as a workspace's administrator about its own objects", async () => {
  const operator = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED, "--route-version", "draft", ...operator), DRAFT);
  const admin = ["--url", gateway.origin, "--workspace", "acme", "--api-key", ADMIN_KEY];
  assert.deepEqual(await linesOf("--app", "mobile", ...ASKED, "--route-version", "draft", ...admin), DRAFT);
});

test("cli.route-explain: what it cannot answer has its exit code and says what to do", async () => {
  const operator = ["--admin-url", gateway.adminOrigin, "--api-key", OPERATOR_KEY];
  const mobile = ["--app", "acme/mobile"];
  for (const [argv, exitCode, message] of [
    [[], 2, /Use --app, --key or --api-key/u],
    [operator, 2, /Use --app or --key; --api-key is the administrator key/u],
    [[...mobile, "--url", gateway.origin], 2, /--admin-url URL/u],
    [[...mobile, "--route-version", "latest"], 2, /`draft` or a number/u],
    [[...mobile, ...operator, "--speaker-count-hint", "99"], 2, /fields\.speaker_count_hint/u],
    [[...mobile, ...operator, "--seconds", "1000000"], 6, /the maximum is/u],
    [[...mobile, "--admin-url", gateway.adminOrigin, "--api-key", KEY], 3, /operator/u],
    [["--app", "acme/unknown", ...operator], 4, /no such app/u],
    [[...mobile, ...operator, "--route-version", "9"], 4, /no such version/u],
    [["--app", "acme/notes", ...operator, "--route-version", "draft"], 4, /has no draft[^]*--route-version N/u],
    [["--request", "req_unknown", ...operator], 4, /no record/u],
  ] as const) {
    const ran = await explain(...argv);
    assert.deepEqual([ran.exitCode, ran.stdout], [exitCode, ""], `${argv.join(" ")}: ${ran.stderr}`);
    assert.match(ran.stderr, message);
  }
  await write({ admin: null });
  const { exitCode, stderr } = await explain(...mobile);
  assert.equal(exitCode, 5);
  assert.match(stderr, /no admin listener[^]*patchbay transcribe FILE --dry-run/u);
});

test("cli.route-explain: without a gateway the installation answers the same, a version that is missing too", async () => {
  await gateway.close();
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED), LIVE);
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED, "--route-version", "draft"), DRAFT);
  assert.deepEqual(await linesOf("--app", "acme/mobile", ...ASKED, "--route-version", "1"), LIVE);
  for (const [argv, message] of [
    [["--app", "acme/mobile", "--route-version", "9"], /no such version/u],
    [["--app", "acme/notes", "--route-version", "draft"], /has no draft/u],
    [["--app", "acme/unknown"], /Unknown app or key/u],
  ] as const) {
    const ran = await explain(...argv);
    assert.deepEqual([ran.exitCode, ran.stdout], [4, ""], ran.stderr);
    assert.match(ran.stderr, message);
  }
});
