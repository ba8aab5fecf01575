// What a start with a configuration file writes to storage, and when a process reads it again.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { applyFile } from "../../src/admin/apply-file.ts";
import type { ConfigurationFile } from "../../src/config/schema/file.ts";
import { applyConfiguration } from "../../src/directory/apply-configuration.ts";
import { followDirectory } from "../../src/directory/follow-directory.ts";
import { brand } from "../../src/contract/ids.ts";
import { errorCode } from "../../src/lib/error-code.ts";
import { lockBudgets } from "../../src/metering/store/budgets.ts";
import { readDirectoryVersion } from "../../src/storage/directory-state.ts";
import { createSeal } from "../../src/storage/secrets/seal.ts";
import { openTestDatabase, type TestDatabase, withSystemAccess } from "../harness/postgres/database.ts";
import { configurationOf, ENCRYPTION_KEY, PEPPER } from "../harness/gateway.ts";

const seal = createSeal({ keys: [ENCRYPTION_KEY] });
const ANYBODY = brand("workspace", "ws_unknown");
let database: TestDatabase;
let dataDir: string;
before(async () => {
  database = await openTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "patchbay-test-"));
});
after(async () => {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
});

const apply = async (file: ConfigurationFile) =>
  applyConfiguration({ database, seal, pepper: PEPPER }, await configurationOf(file, dataDir), {
    isFile: true,
  });
const fileWith = (model: string, apiKey = "dg-secret-0001"): ConfigurationFile => ({
  connections: [{ id: "dg", kind: "deepgram", api_key: apiKey }],
  routes: [{ id: "speech", targets: [{ connection: "dg", model }] }],
  prices: [{ provider: "deepgram", model: "nova-3", usd_per_audio_hour: "0.36", source: "test", as_of: "2026-11-01" }],
});
const version = () => readDirectoryVersion(database.db);
const route = () => database.db.selectFrom("routes").selectAll().where("id", "=", "speech").executeTakeFirstOrThrow();
const versions = () => database.db.selectFrom("route_versions").selectAll().orderBy("version").execute();

test("configuration.same-file: the same file again changes nothing, and no process reloads anything", async () => {
  await apply(fileWith("nova-3"));
  const first = await version();
  const audited = await database.db.selectFrom("audit_log").select("id").execute();
  await apply(fileWith("nova-3"));
  assert.equal(await version(), first);
  assert.deepEqual(await database.db.selectFrom("audit_log").select("id").execute(), audited);
  assert.deepEqual(
    (await versions()).map((each) => each.version),
    [1],
  );
});

test("configuration.route-versions, admin.immediate: a changed route of the file is a new version, in force as soon as the process has looked", async () => {
  const followed = await followDirectory({ database, seal });
  const served = () => {
    const { version: number, targets } = followed.directory().routesOf(ANYBODY).get("speech") ?? {};
    return [number, targets?.map((target) => target.model)];
  };
  const before = served();
  await apply(fileWith("nova-2"));
  assert.deepEqual(served(), before);
  await followed.refresh();
  assert.deepEqual(served(), [2, ["nova-2"]]);
  const { previous_version, latest_version } = await route();
  assert.deepEqual([previous_version, latest_version], [1, 2]);
});

test("configuration.changed-credential: a credential that changed in the file is sealed again, and its audit entry has nothing of it", async () => {
  const before = await version();
  await apply(fileWith("nova-2", "dg-secret-0002"));
  assert((await version()) > before);
  const stored = await database.db.selectFrom("connections").selectAll().executeTakeFirstOrThrow();
  assert.equal(stored.credential_last4, "0002");
  const audited = await database.db.selectFrom("audit_log").selectAll().execute();
  assert(audited.some(({ action, object }) => action === "connection.applied" && object === "dg"));
  assert(!JSON.stringify(audited.map(({ before: was, after: is }) => [was, is])).includes("dg-secret"));
});

test("configuration.release: what the file no longer lists continues, and is released to the API", async () => {
  const kept: ConfigurationFile = { connections: [{ id: "other", kind: "deepgram", api_key: "dg-secret-0003" }] };
  await apply(kept);
  const { managed_by, definition } = await route();
  assert.deepEqual([managed_by, definition !== null], ["api", true]);
  await apply(fileWith("nova-2", "dg-secret-0002"));
  assert.equal((await route()).managed_by, "file");
});

test("configuration.release: an app with its budgets, and a workspace, that the file no longer lists are the API's, until it lists them again", async () => {
  const platform = fileWith("nova-2", "dg-secret-0002");
  const app = { id: "notes", route: "speech", budgets: [{ period: "month" as const, limit_usd: "5" }] };
  const whole: ConfigurationFile = { ...platform, workspaces: [{ id: "acme", apps: [app] }] };
  const managers = async () => {
    const { rows } = await sql<{ manager: string }>`
      select managed_by as manager from workspaces where slug = 'acme'
      union all select managed_by from apps where slug = 'notes'
      union all select managed_by from budgets where kind = 'budget'`.execute(database.db);
    return rows.map(({ manager }) => manager);
  };
  await apply(whole);
  assert.deepEqual(await managers(), ["file", "file", "file"]);
  await apply({ ...platform, workspaces: [{ id: "acme" }] });
  assert.deepEqual(await managers(), ["file", "api", "api"]);
  await apply(platform);
  assert.deepEqual(await managers(), ["api", "api", "api"]);
  const audited = await database.db.selectFrom("audit_log").select(["action", "object"]).orderBy("id").execute();
  const released = audited.filter(({ action }) => /^(app|workspace)\.released$/u.test(action));
  const slugs = await sql<{ id: string; slug: string }>`
    select id, slug from workspaces union all select id, slug from apps`.execute(database.db);
  // The owner's are those of the first start, which found no workspace in the file and in the database.
  assert.deepEqual(
    released.map(({ action, object }) => [action, slugs.rows.find(({ id }) => id === object)?.slug]),
    [
      ["app.released", "default"],
      ["workspace.released", "owner"],
      ["app.released", "notes"],
      ["workspace.released", "acme"],
    ],
  );
  await apply(whole);
  assert.deepEqual(await managers(), ["file", "file", "file"]);
});

test("configuration.apply-concurrent: a start that deadlocks with a settlement over a budget of the file is repeated", async () => {
  const platform = fileWith("nova-2", "dg-secret-0002");
  const [day, month] = [
    { period: "day", limit_usd: "5" },
    { period: "month", limit_usd: "50" },
  ] as const;
  const applyWith = (...budgets: readonly (typeof day | typeof month)[]) =>
    apply({
      ...platform,
      workspaces: [{ id: "settling", apps: [{ id: "notes", route: "speech", budgets: [...budgets] }] }],
    });
  await applyWith(day);
  const found = database.db.selectFrom("budgets").innerJoin("workspaces", "workspaces.id", "workspace_id");
  const { app_id: appId, workspace_id: workspaceId } = await found
    .select(["app_id", "workspace_id"])
    .where("slug", "=", "settling")
    .executeTakeFirstOrThrow();
  // Reserved while there was a budget of the month, which was deleted and comes again.
  const windows = JSON.stringify([{ budget_id: `${appId}/month`, window_start: "2026-11-01T00:00:00.000Z" }]);
  await sql`insert into attempts (id, request_id, workspace_id, app_id, endpoint, connection, provider, model, position, billing_class,
        audio_ms, reserved_nano_usd, windows, deadline_at)
      values ('att_settling', 'req', ${workspaceId}, ${appId}, 'transcription', 'dg', 'deepgram', 'nova-2', 0, 'metered', 1000, 1000,
        ${windows}::jsonb, patchbay_now() + interval '1 hour')`.execute(database.db);
  const other = await database.openSecond();
  // The server ends whichever looks for the deadlock first. On a busy machine the start may look before there is one: once more.
  const isStartEnded = async (): Promise<boolean> => {
    let applying: Promise<unknown> = Promise.resolve();
    const settling = other.transaction(async (tx) => {
      await sql`set local deadlock_timeout = '5s'`.execute(tx);
      await sql`select from attempts where id = 'att_settling' for update`.execute(tx);
      applying = applyWith(day, month);
      applying.catch(() => undefined);
      await someoneWaits();
      await lockBudgets(tx, [`${appId}/day`]);
    });
    const isEnded = await settling.then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) !== "40P01") throw error;
        return false;
      },
    );
    await applying;
    return isEnded;
  };
  try {
    while (!(await isStartEnded())) await applyWith(day);
  } finally {
    await other.close();
  }
  const reserved = await database.db
    .selectFrom("budget_windows")
    .select("reserved_nano_usd")
    .where("budget_id", "=", `${appId}/month`)
    .execute();
  assert.deepEqual(reserved, [{ reserved_nano_usd: 1_000n }]);
});

async function someoneWaits(): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from pg_locks where not granted`.execute(database.db);
    if (rows.length > 0) return;
    await pause(10);
  }
}

test("configuration.apply-running: a file that was applied is not reported as rolled back because this process could not reload at once", async () => {
  let looks = 0;
  const configuration = await configurationOf(fileWith("nova-2", "dg-secret-0002"), dataDir);
  const services = {
    database,
    seal,
    pepper: PEPPER,
    ownFile: {
      path: "/patchbay.yaml",
      load: () => ({ ok: true as const, configuration, file: "/patchbay.yaml", warnings: [] }),
    },
    forgetKeys: () => undefined,
    refreshDirectory: () => Promise.reject(new Error(`the database is unavailable (${(looks += 1)})`)),
  };
  for (const dryRun of [true, false]) assert.equal((await applyFile(services, { file: null, dryRun })).dry_run, dryRun);
  assert.equal(looks, 1);
});

test("budgets.plan-of-file: a workspace that owns the operator's keys keeps the plan that the file gives it", async () => {
  await apply({
    ...fileWith("nova-2", "dg-secret-0002"),
    plans: [{ id: "team" }],
    operator_keys: [{ id: "root", secret: "svc-of-nobody-0123456789-abcdef" }],
    workspaces: [{ id: "operator", plan: "team" }],
  });
  const found = await database.db.selectFrom("workspaces").select("plan").where("slug", "=", "operator").execute();
  assert.deepEqual(found, [{ plan: "team" }]);
});

test("admin.route-versions, configuration.route-versions: a version never changes and is never removed, and is first published only once", async () => {
  const refused = /a version of a route never changes/u;
  const all = database.db.updateTable("route_versions");
  await assert.rejects(all.set({ definition: "{}" }).execute(), refused);
  await assert.rejects(all.set({ published_at: new Date() }).execute(), refused);
  await assert.rejects(database.db.deleteFrom("route_versions").execute(), refused);
});

test("admin.refresh-shared, configuration.apply-concurrent: refreshes requested while one runs share the next one", async () => {
  let reads = 0;
  const counting = withSystemAccess(database, {
    db: new Proxy(database.db, {
      get: (target, name) => {
        const found: unknown = Reflect.get(target, name, target);
        if (typeof found !== "function") return found;
        return (...args: readonly unknown[]) => {
          if (name === "selectFrom" && args[0] === "directory_state") reads += 1;
          return Reflect.apply(found, target, args) as unknown;
        };
      },
    }),
  });
  const followed = await followDirectory({ database: counting, seal });
  reads = 0;
  await Promise.all([followed.refresh(), followed.refresh(), followed.refresh()]);
  assert.equal(reads, 2);
});
