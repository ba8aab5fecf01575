// Tests a connection's credential with the one free request of its provider [admin.test-outcome]. It uses the same HTTP client as paid calls, but its
// outcome counts in no circuit breaker and no metric.
import { type ConnectionTest, MOST_UNDECLARED } from "../../contract/admin/connection-test.ts";
import { needsCredential } from "../../contract/provider-kinds.ts";
import { accountKey } from "../../directory/account-key.ts";
import { type AccountModel, modelsOf } from "../../directory/models-of.ts";
import type { Account } from "../../directory/snapshot.ts";
import { putModelEnds } from "../../directory/store/model-lists.ts";
import { resolveAccount } from "../../gateway/calls/resolve-account.ts";
import type { GatewayServices } from "../../gateway/services.ts";
import { mapDatabaseUnavailable } from "../../gateway/calls/database-unavailable.ts";
import type { KeyedSemaphore } from "../../lib/concurrency/keyed-semaphore.ts";
import type { AccountAnswer, AccountProbe, ListedModels } from "../../providers/account-probe.ts";
import { PLAIN_REPLY } from "../../providers/wire/reply-bounds.ts";
import { ProviderError } from "../../providers/io.ts";
import type { ProviderKind } from "../../providers/provider.ts";
import { announceChange } from "../../storage/connection/announce.ts";
import type { Database } from "../../storage/database.ts";
import { changeAsWorkspaceOrSystem } from "../../storage/system.ts";
import { describeAbilities } from "./describe-model.ts";
import { noSuch } from "../refusals.ts";
import { type SetUpActor, type SetUpServices, workspaceOf } from "../set-up-scope.ts";
import { judgeTest } from "./judge-test.ts";

export interface ConnectionTestServices
  extends Pick<
      GatewayServices,
      "directory" | "providers" | "chatProviders" | "sandboxUrl" | "openIo" | "now" | "modelClock" | "logger"
    >,
    Pick<SetUpServices, "refreshDirectory"> {
  readonly database: Database;
  readonly probes: Readonly<Record<ProviderKind, AccountProbe>>;
  /** Limits concurrent tests, because each one occupies a connection while a provider is silent. Further ones wait. */
  readonly places: KeyedSemaphore;
}

export interface ConnectionToTest extends Pick<SetUpActor, "scope"> {
  readonly id: string;
  readonly signal: AbortSignal;
}

/** Short, because a person waits for the result. */
export const TEST_TIMEOUT_MS = 10_000;
/** Concurrent tests per process. */
export const MOST_TESTS = { total: 16, perOwner: 4 } as const;

export async function testConnection(
  services: ConnectionTestServices,
  { scope, id, signal }: ConnectionToTest,
): Promise<ConnectionTest> {
  // Refreshed first, because another process may have created the connection a moment ago.
  await mapDatabaseUnavailable(services.refreshDirectory());
  const account = services.directory().account(accountKey(scope, id));
  if (account === undefined) throw noSuch("connection");
  const { kind, credential } = account;
  const probe = services.probes[kind];
  const canTest = credential !== null || !needsCredential(kind);
  const { answer, tookMs } = canTest ? await runQueued(services, account, scope, signal) : { answer: null, tookMs: 0 };
  const listed = answer !== null && "listed" in answer ? answer.listed : null;
  const names = listed === null ? null : namesIn(listed);
  if (listed !== null && probe.listsEnds) await storeEnds(services, { scope, id }, listed);
  const known = services.directory().account(account.key) ?? account;
  const declaredModels = modelsOf(known, { speech: services.providers, chat: services.chatProviders });
  const nowMs = services.modelClock().getTime();
  const isListed = ({ name }: AccountModel) =>
    names?.has(name) === true ? true : listed?.isWhole === true ? false : null;
  const models = declaredModels.map((model) => ({ ...describeAbilities(model, nowMs), found: isListed(model) }));
  const undeclared = listed === null ? null : undeclaredIn(listed, declaredModels);
  return {
    object: "connection_test",
    connection: id,
    kind,
    ...judgeTest(answer, { hasCredential: credential !== null, models, undeclared }),
    asked: `GET ${probe.path}`,
    took_ms: tookMs,
    checked_at: services.now().toISOString(),
    models,
    undeclared_models: undeclared?.slice(0, MOST_UNDECLARED) ?? null,
  };
}

/** A failure does not change the result of the test. */
async function storeEnds(
  services: ConnectionTestServices,
  { scope, id }: Pick<ConnectionToTest, "scope" | "id">,
  { models }: ListedModels,
): Promise<void> {
  const ends = new Map(models.map(({ id: name, endsOn = null }) => [name, endsOn]));
  try {
    const hasChanged = await changeAsWorkspaceOrSystem(services.database, workspaceOf(scope), async (tx) => {
      const differs = await putModelEnds(tx, { scope, connection: id }, ends);
      if (differs) await announceChange(tx, "directory", scope);
      return differs;
    });
    if (hasChanged) await services.refreshDirectory();
  } catch (error) {
    services.logger.warn(
      { task: "store the ends of models", account: accountKey(scope, id), err: error },
      "could not store them",
    );
  }
}

interface TimedAnswer {
  readonly answer: AccountAnswer | ProviderError;
  /** Excludes the wait for a slot. */
  readonly tookMs: number;
}

function runQueued(
  services: ConnectionTestServices,
  account: Account,
  owner: string,
  signal: AbortSignal,
): Promise<TimedAnswer> {
  const work = async (): Promise<TimedAnswer> => {
    const startedMs = performance.now();
    const answer = await sendProbe(services, account, owner, signal);
    return { answer, tookMs: Math.round(performance.now() - startedMs) };
  };
  return services.places.run("tests", signal, work, owner);
}

async function sendProbe(
  services: ConnectionTestServices,
  account: Account,
  owner: string,
  signal: AbortSignal,
): Promise<AccountAnswer | ProviderError> {
  const target = { account: account.key, provider: account.kind, settings: {} };
  const { timeoutMs, ...place } = resolveAccount(services, target, false);
  const io = services.openIo({
    ...place,
    signal,
    timeoutMs: Math.min(timeoutMs, TEST_TIMEOUT_MS),
    onDispatch: () => undefined,
    expected: { owner, bound: PLAIN_REPLY },
  });
  try {
    return await services.probes[account.kind].ask(io);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

/** A set, because thousands of models may be listed and declared. */
function namesIn({ models }: ListedModels): ReadonlySet<string> {
  return new Set(models.flatMap(({ id, alias }) => (alias === null ? [id] : [id, alias])));
}

function undeclaredIn({ models }: ListedModels, declaredModels: readonly AccountModel[]): readonly string[] {
  const names = new Set(declaredModels.map(({ name }) => name));
  const others = models.filter(({ id, alias }) => !names.has(id) && (alias === null || !names.has(alias)));
  return [...new Set(others.map(({ id }) => id))].toSorted();
}
