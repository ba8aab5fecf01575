// `patchbay audit verify` over an embedded installation [cli.audit-verify]: what it prints, and how it ends.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { auditVerification } from "../../src/contract/admin/audit.ts";
import { adminFile, ADMIN_KEY, call } from "../http/admin/admin.ts";
import { type Installation, makeInstallation } from "./installation.ts";

let installation: Installation;
before(async () => {
  installation = await makeInstallation();
});
after(() => installation.close());

test("cli.audit-verify, tenancy.audit-clean, tenancy.audit-tampering: running or stopped, the command finds nothing, and later what was changed", async () => {
  const gateway = await installation.start({ file: adminFile });
  const put = await call(gateway, "PUT", "/workspace/acme/audio-url-domains", {
    key: ADMIN_KEY,
    body: { domains: ["a.example.com"] },
  });
  assert.equal(put.status, 200);
  const online = auditVerification.parse((await call(gateway, "GET", "/admin/v1/audit/verification")).json);
  assert.deepEqual([online.ok, online.checkpoint_at], [true, null]);
  assert(online.entries > 0);
  const busy = await installation.patchbay("audit", "verify");
  assert.deepEqual([busy.exitCode, busy.stdout], [0, ""], busy.stderr);
  assert.match(
    busy.stderr,
    new RegExp(`^${online.entries} entries in ${online.chains} chains: nothing was changed`, "mu"),
  );
  await gateway.close();

  const good = await installation.patchbay("audit", "verify");
  assert.deepEqual([good.exitCode, good.stdout], [0, ""], good.stderr);
  assert.match(good.stderr, /nothing was changed[\s\S]*No signed checkpoint yet/u);
  const unknown = await installation.patchbay("audit", "verify", "--workspace", "acmee");
  assert.deepEqual([unknown.exitCode, unknown.stdout], [4, ""], unknown.stderr);

  const audit = join(installation.dataDir, "objects", "audit");
  mkdirSync(audit, { recursive: true });
  writeFileSync(join(audit, "latest"), '{"body":"{}","signature":"AAAA"}');
  const strange = await installation.patchbay("audit", "verify");
  assert.match(
    strange.stdout,
    /^platform: the checkpoint's signature is not one of this installation's encryption keys$/mu,
  );
  assert.doesNotMatch(strange.stderr, /checkpoint/u);
  rmSync(join(audit, "latest"));

  const database = await installation.open();
  await sql`alter table audit_log disable trigger user`.execute(database.db);
  await sql`update audit_log set after = '{"domains": []}' where actor_key_id is not null`.execute(database.db);
  await database.close();
  const bad = await installation.patchbay("audit", "verify");
  assert.equal(bad.exitCode, 1);
  assert.match(bad.stdout, /^ws_[0-9a-z]+: entry 2 has content that does not match its hash\n$/u);
  const json = auditVerification.parse(
    JSON.parse((await installation.patchbay("audit", "verify", "--workspace", "acme", "--json")).stdout),
  );
  assert.deepEqual(
    json.findings.map(({ kind, seq }) => [kind, seq]),
    [["edited", 2]],
  );
});
