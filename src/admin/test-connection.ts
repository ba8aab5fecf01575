// Tests the credential of a connection with the one free question of its provider [admin.test-outcome]: over the same client as calls,
// without anything that counts them.
import { type ConnectionTest, MOST_UNDECLARED } from "../contract/connection-test.ts";
import { needsCredential } from "../contract/provider-kinds.ts";
import { accountKey } from "../directory/account-key.ts";
import { type AccountModel, modelsOf } from "../directory/models-of.ts";
import type { Account } from "../directory/snapshot.ts";
import { resolveAccount } from "../gateway/calls/resolve-account.ts";
import type { GatewayServices } from "../gateway/services.ts";
import { mapDatabaseUnavailable } from "../gateway/calls/database-unavailable.ts";
import type { KeyedSemaphore } from "../lib/concurrency/keyed-semaphore.ts";
import type { AccountAnswer, AccountProbe, ListedModels } from "../providers/account-probe.ts";
import { PLAIN_REPLY } from "../providers/reply-bounds.ts";
import { ProviderError } from "../providers/io.ts";
import type { ProviderKind } from "../providers/provider.ts";
import { whatModelDoes } from "./describe-model.ts";
import { noSuch } from "./refusals.ts";
import type { SetUpActor, SetUpServices } from "./set-up-scope.ts";
import { judgeTest } from "./judge-test.ts";

export interface ConnectionTestServices
  extends Pick<GatewayServices, "directory" | "providers" | "chatProviders" | "sandboxUrl" | "openIo" | "now">,
    Pick<SetUpServices, "refreshDirectory"> {
  readonly probes: Readonly<Record<ProviderKind, AccountProbe>>;
  /** Each of them holds a connection for as long as a provider is silent; who comes when all are taken waits in line. */
  readonly places: KeyedSemaphore;
}

export interface Tested extends Pick<SetUpActor, "scope"> {
  readonly id: string;
  readonly signal: AbortSignal;
}

/** Somebody waits for it. */
export const TEST_TIMEOUT_MS = 10_000;
/** At once on one process. */
export const MOST_TESTS = { total: 16, perOwner: 4 } as const;

export async function testConnection(
  services: ConnectionTestServices,
  { scope, id, signal }: Tested,
): Promise<ConnectionTest> {
  // As it is stored now: it may have been made on another process a moment ago.
  await mapDatabaseUnavailable(services.refreshDirectory());
  const account = services.directory().account(accountKey(scope, id));
  if (account === undefined) throw noSuch("connection");
  const { kind, credential } = account;
  const probe = services.probes[kind];
  const isAsked = credential !== null || !needsCredential(kind);
  const { answer, tookMs } = isAsked ? await inTurn(services, account, scope, signal) : { answer: null, tookMs: 0 };
  const known = modelsOf(account, { speech: services.providers, chat: services.chatProviders });
  const listed = answer !== null && "listed" in answer ? answer.listed : null;
  const names = listed === null ? null : namesIn(listed);
  const foundOf = ({ name }: AccountModel) =>
    names?.has(name) === true ? true : listed?.isWhole === true ? false : null;
  const models = known.map((model) => ({ ...whatModelDoes(model), found: foundOf(model) }));
  const undeclared = listed === null ? null : undeclaredIn(listed, known);
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

interface Asked {
  readonly answer: AccountAnswer | ProviderError;
  /** Without the wait for a place. */
  readonly tookMs: number;
}

function inTurn(
  services: ConnectionTestServices,
  account: Account,
  owner: string,
  signal: AbortSignal,
): Promise<Asked> {
  const work = async (): Promise<Asked> => {
    const startedMs = performance.now();
    const answer = await ask(services, account, owner, signal);
    return { answer, tookMs: Math.round(performance.now() - startedMs) };
  };
  return services.places.run("tests", signal, work, owner);
}

async function ask(
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

/** Thousands may be listed, and as many be declared. */
function namesIn({ models }: ListedModels): ReadonlySet<string> {
  return new Set(models.flatMap(({ id, alias }) => (alias === null ? [id] : [id, alias])));
}

function undeclaredIn({ models }: ListedModels, known: readonly AccountModel[]): readonly string[] {
  const names = new Set(known.map(({ name }) => name));
  const others = models.filter(({ id, alias }) => !names.has(id) && (alias === null || !names.has(alias)));
  return [...new Set(others.map(({ id }) => id))].toSorted();
}
