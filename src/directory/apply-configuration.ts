// Writes the configuration file's objects to storage, at each start and by `patchbay apply` [configuration.same-file]. It is idempotent and one transaction,
// retried after a deadlock, because it locks budgets while calls are settled [configuration.apply-concurrent].
import { checkFormat, hashKey, visibleParts } from "../auth/key-format.ts";
import type {
  AdminKeyConfiguration,
  AppConfiguration,
  Configuration,
  WorkspaceConfiguration,
} from "../config/configuration.ts";
import { type AppId, newId, type WorkspaceId } from "../contract/ids.ts";
import type { Role } from "../auth/principal.ts";
import type { Scope } from "../contract/scopes.ts";
import { announceChange, CHANGE_TOPICS } from "../storage/connection/announce.ts";
import { seedAudioUrlDomains, setPlatformDomains } from "./store/audio-url-domains.ts";
import { OPERATOR_WORKSPACE } from "./store/bootstrap.ts";
import { revokeUnlistedKeys, upsertKey } from "./store/keys.ts";
import { readSetUpState } from "./store/set-up-state.ts";
import { upsertApp, upsertWorkspace } from "./store/workspaces.ts";
import type { Database, SystemTransaction } from "../storage/database.ts";
import { putPlanBudgets } from "../metering/store/plan-budgets.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { bypassRls } from "../storage/system.ts";
import { transact } from "../storage/transact.ts";
import { lockDirectory } from "../storage/directory-state.ts";
import { requireKnownSecrets } from "../storage/secrets/verify-secrets.ts";
import { differenceOf, type SetUpChange } from "./set-up-difference.ts";
import { putBudgets, putPlans, putPrices, releasePlans } from "./apply-money.ts";
import { type ApplyScope, putScope, type ScopeObjects } from "./apply-scope.ts";
import { needsBootstrap, replaceable } from "./bootstrap.ts";
import { keepOwnObjects } from "./keep-own-objects.ts";
import { keptName, unmanageRemoved } from "./unmanage-removed.ts";
import { PLATFORM } from "./snapshot.ts";

export interface ApplyServices {
  readonly database: Database;
  readonly seal: Seal;
  readonly pepper: Buffer;
}

export interface ApplyOptions {
  /** True: the configuration comes from a file, so missing keys are revoked and other missing objects become unmanaged. False: a start without a file. */
  readonly isFile: boolean;
}

/** The applied configuration, including the bootstrap objects if they are in force. */
export interface AppliedConfiguration {
  readonly isBootstrapped: boolean;
  readonly notes: readonly string[];
}

/**
 * Keys that were removed from the file are revoked, all other removed objects become unmanaged. Throws `OtherSecrets` if the database was used with other
 * secrets.
 */
export async function applyConfiguration(
  services: ApplyServices,
  configuration: Configuration,
  options: ApplyOptions,
): Promise<AppliedConfiguration> {
  return transact(bypassRls(services.database, "installation"), (tx) =>
    applyIn({ ...services, tx }, configuration, options),
  );
}

/** Applies a file and returns what changed. `dryRun`: rolls back and returns what would change. */
export async function applyAndCompare(
  services: ApplyServices,
  configuration: Configuration,
  { dryRun }: { readonly dryRun: boolean },
): Promise<readonly SetUpChange[]> {
  const work = transact(bypassRls(services.database, "installation"), async (tx) => {
    await lockDirectory(tx);
    const before = await readSetUpState(tx);
    await applyIn({ ...services, tx }, configuration, { isFile: true });
    const changes = differenceOf(before, await readSetUpState(tx));
    if (dryRun) throw new DryRunRollback(changes);
    return changes;
  });
  return work.catch((error: unknown) => {
    if (error instanceof DryRunRollback) return error.changes;
    throw error;
  });
}

/** Rolls back a transaction on purpose. */
class DryRunRollback extends Error {
  readonly changes: readonly SetUpChange[];

  constructor(changes: readonly SetUpChange[]) {
    super("a dry run");
    this.changes = changes;
  }
}

async function applyIn(
  services: ApplyServices & { readonly tx: SystemTransaction },
  loaded: Configuration,
  options: ApplyOptions,
): Promise<AppliedConfiguration> {
  const { tx } = services;
  await lockDirectory(tx);
  await requireKnownSecrets(tx, services);
  const { configuration, derived, isBootstrapped } = await withBootstrap(tx, loaded, options);
  const apply: Apply = { ...services, manager: "file", keptKeys: [], keptObjects: new Set<string>() };
  await putOwnScope(apply, PLATFORM, configuration);
  await putOwnScope({ ...apply, manager: "bootstrap" }, PLATFORM, derived);
  await putPrices(tx, configuration);
  await setPlatformDomains(tx, configuration.audioUrl.globalDomains);
  await putPlans(tx, configuration);
  for (const workspace of configuration.workspaces) await putWorkspace(apply, workspace);
  await releasePlans(tx, configuration);
  if (configuration.operatorKeys.length > 0) {
    const workspaceId = await putWorkspaceRow(apply, OPERATOR_WORKSPACE, {});
    for (const key of configuration.operatorKeys)
      await putKey(apply, {
        workspaceId,
        appId: null,
        key,
        role: "operator",
        scopes: ["routing:read"],
        settings: {},
      });
  }
  if (options.isFile) {
    await revokeUnlistedKeys(tx, apply.keptKeys);
    await unmanageRemoved(tx, apply.keptObjects);
  }
  for (const topic of CHANGE_TOPICS) await announceChange(tx, topic, "configuration");
  return { isBootstrapped, notes: configuration.notes };
}

/** Runs under the directory's lock, so that processes that start together see the same state. */
async function withBootstrap(
  tx: SystemTransaction,
  configuration: Configuration,
  { isFile }: ApplyOptions,
): Promise<BootstrappedConfiguration> {
  if (!isFile) {
    const derived = await keepOwnObjects(tx, configuration);
    return { configuration: { ...configuration, ...NOTHING }, derived, isBootstrapped: true };
  }
  const { bootstrap } = configuration;
  if (bootstrap === null || !(await needsBootstrap(tx)))
    return { configuration, derived: NOTHING, isBootstrapped: false };
  const { workspaces, notes } = bootstrap;
  return {
    configuration: { ...configuration, workspaces, notes },
    derived: await replaceable(tx, configuration, await keepOwnObjects(tx, bootstrap)),
    isBootstrapped: true,
  };
}

const NOTHING: ScopeObjects = { connections: [], routes: [] };

interface BootstrappedConfiguration {
  /** The objects that the configuration lists. */
  readonly configuration: Configuration;
  /** The objects that the bootstrap adds to it. */
  readonly derived: ScopeObjects;
  readonly isBootstrapped: boolean;
}

interface Apply extends ApplyServices, ApplyScope {
  readonly keptKeys: Buffer[];
  /** Names by `keptName`. */
  readonly keptObjects: Set<string>;
}

async function putWorkspace(apply: Apply, workspace: WorkspaceConfiguration): Promise<void> {
  const workspaceId = await putWorkspaceRow(apply, workspace.id, { plan: workspace.plan });
  await putPlanBudgets(apply.tx, workspaceId, workspace.plan);
  await putOwnScope(apply, workspaceId, workspace);
  await seedAudioUrlDomains(apply.tx, workspaceId, workspace.audioUrlDomains);
  for (const app of workspace.apps) await putApp(apply, workspaceId, app);
  for (const key of workspace.adminKeys)
    await putKey(apply, { workspaceId, appId: null, key, role: "admin", scopes: [], settings: {} });
}

async function putOwnScope(apply: Apply, scope: string, { connections, routes }: ScopeObjects): Promise<void> {
  await putScope(apply, scope, { connections, routes });
  for (const { id } of connections) apply.keptObjects.add(keptName("connection", scope, id));
  for (const { id } of routes) apply.keptObjects.add(keptName("route", scope, id));
}

/** Without a plan the existing one stays, because the operator's workspace may be a customer's too. */
async function putWorkspaceRow(
  apply: Apply,
  slug: string,
  plan: { readonly plan?: string | null },
): Promise<WorkspaceId> {
  const workspaceId = await upsertWorkspace(apply.tx, slug, plan);
  apply.keptObjects.add(keptName("workspace", workspaceId, workspaceId));
  return workspaceId;
}

async function putApp(apply: Apply, workspaceId: WorkspaceId, app: AppConfiguration): Promise<void> {
  const { id: slug, name, keys, budgets, ...rest } = app;
  const settings = JSON.stringify(rest);
  const appId = await upsertApp(apply.tx, { workspaceId, slug, name: name ?? slug, settings });
  apply.keptObjects.add(keptName("app", workspaceId, appId));
  await putBudgets(apply.tx, workspaceId, appId, budgets);
  for (const key of keys) {
    const { id: _id, secret: _secret, name: _name, role, scopes, expiresAt: _expires, ...keySettings } = key;
    await putKey(apply, { workspaceId, appId, key, role, scopes, settings: keySettings });
  }
}

interface KeyRow {
  readonly workspaceId: WorkspaceId;
  readonly appId: AppId | null;
  readonly key: AdminKeyConfiguration;
  readonly role: Role;
  readonly scopes: readonly Scope[];
  readonly settings: object;
}

async function putKey(apply: Apply, { workspaceId, appId, key, role, scopes, settings }: KeyRow): Promise<void> {
  if (!checkFormat(key.secret).ok) throw new Error(`the secret of key ${key.id} is not a key`);
  const hash = hashKey(apply.pepper, key.secret);
  apply.keptKeys.push(hash);
  const columns = {
    workspace_id: workspaceId,
    app_id: appId,
    name: key.name ?? key.id,
    role,
    scopes: [...scopes],
    settings: JSON.stringify(settings),
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt),
    revoked_at: null,
    managed_by: "file",
  };
  await upsertKey(apply.tx, { id: newId("key"), secret_hash: hash, ...visibleParts(key.secret) }, columns);
}
