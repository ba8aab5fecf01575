// Resolves where a target's call is sent: its stored account, or the sandbox for test keys and simulated targets [providers.test-key-address].
import type { Principal } from "../../auth/principal.ts";
import type { Capability } from "../../contract/features.ts";
import type { Account } from "../../directory/snapshot.ts";
import { ProviderError } from "../../providers/io.ts";
import type { UnavailabilityOf } from "../../routing/pick-candidates.ts";
import type { AccountKey, Target } from "../../routing/types.ts";
import type { PriceBook } from "../../metering/price.ts";
import type { Payer } from "./candidate-run.ts";
import type { GatewayServices } from "../services.ts";

export interface ResolvedAccount {
  readonly baseUrl: string;
  /** The workspace configured the address, so that the rules for addresses of callers apply. */
  readonly isCallersAddress: boolean;
  readonly credential: string | null;
  readonly timeoutMs: number;
}

/** Prefix of the circuits of test keys: the sandbox's simulated failures must not affect the account. */
export const TEST_CIRCUITS = "test/";

/** The name of a circuit: one per model and account, so that one tenant's invalid key does not make a provider unavailable for another. */
export function circuitOf(target: Target, testMode: boolean): string {
  const cachedNames = circuitNames.get(target);
  if (cachedNames !== undefined) return testMode ? cachedNames.test : cachedNames.live;
  const live = `${target.account}/${target.model}`;
  const names = { live, test: TEST_CIRCUITS + live };
  circuitNames.set(target, names);
  return testMode ? names.test : names.live;
}

/** Cached per target, which lives as long as its route version: a name created for each look-up would be hashed each time. */
const circuitNames = new WeakMap<Target, { readonly live: string; readonly test: string }>();

/** As of now. Test keys call the sandbox, which is never paused. */
export function unavailabilityFor(services: UnavailabilityServices, holder: PlanHolder): UnavailabilityOf {
  const { circuits, directory, now } = services;
  const { testMode } = holder;
  const at = now();
  const unpriced = unpricedFor(services, holder);
  return (target, capability) => {
    const lack = unpriced(target, capability);
    if (lack !== null) return lack;
    const until = testMode ? null : directory().pausedUntil(target.account, target.model, at);
    if (until !== null)
      return { kind: "paused", until, secondsLeft: Math.ceil((until.getTime() - at.getTime()) / 1000) };
    return circuits.isHealthy(circuitOf(target, testMode)) ? null : { kind: "after_failures" };
  };
}

/** Whether the target was paused since it was chosen, while other targets were tried or speech to be translated was transcribed. */
export function isPausedByNow(
  { directory, now }: Pick<UnavailabilityServices, "directory" | "now">,
  target: Target,
  { testMode }: { readonly testMode: boolean },
): boolean {
  return !testMode && directory().pausedUntil(target.account, target.model, now()) !== null;
}

export type UnavailabilityServices = Pick<GatewayServices, "circuits" | "directory" | "now" | "prices">;

/** A caller, or what a job stores of it. */
export type PlanHolder = Pick<Principal, "testMode" | "workspace"> | Pick<Payer, "testMode" | "hasPlan">;

/** For decisions with later calls: a target that is unavailable now may be available by then, but a missing price remains. */
export function unpricedFor({ prices }: Pick<GatewayServices, "prices">, holder: PlanHolder): UnavailabilityOf {
  const hasPlan = "hasPlan" in holder ? holder.hasPlan : holder.workspace.plan !== null;
  if (!hasPlan || holder.testMode) return () => null;
  const book = prices();
  return (target, capability) => (isPaidByPlan(book, target, capability) ? null : UNPRICED_TARGET);
}

const UNPRICED_TARGET = { kind: "unpriced" } as const;

/** On a shared connection a plan pays only for models that have a price or that the operator offers free. */
export function isPaidByPlan(
  book: PriceBook,
  { ownership, provider, model }: Pick<Target, "ownership" | "provider" | "model">,
  capability: Capability,
): boolean {
  if (ownership !== "platform" || book.isFree(provider, model)) return true;
  return (capability === "chat" ? book.chat(provider, model) : book.audio(provider, model)) !== null;
}

/** Whether the account of a target, job or run still exists: its connection may be removed, or belong to another provider now. */
export function hasAccount(services: Pick<GatewayServices, "directory">, target: AccountName): boolean {
  return accountOf(services, target) !== undefined;
}

interface AccountName {
  readonly account: AccountKey;
  readonly provider: string;
}

function accountOf({ directory }: Pick<GatewayServices, "directory">, target: AccountName): Account | undefined {
  const account = directory().account(target.account);
  return account?.kind === target.provider ? account : undefined;
}

const SANDBOX_TIMEOUT_MS = 60_000;

/** Throws a `ProviderError` if the account was removed since the target was chosen. */
export function resolveAccount(
  services: Pick<GatewayServices, "directory" | "providers" | "chatProviders" | "sandboxUrl">,
  target: AccountName & Pick<Target, "settings">,
  testMode: boolean,
): ResolvedAccount {
  const account = accountOf(services, target);
  if (account === undefined) throw new ProviderError("not_found", { reason: "no_account" });
  // Some kinds only transcribe, some only chat. Those that do both use one base URL.
  const adapter = services.providers.get(account.kind) ?? services.chatProviders.get(account.kind);
  const ownUrl = account.baseUrl ?? adapter?.defaultBaseUrl ?? null;
  if (testMode || (account.kind === "sandbox" && ownUrl === null)) {
    const baseUrl = services.sandboxUrl(account.kind, target.settings["dialect"]);
    // The sandbox accepts any non-empty credential, so the real one is not sent.
    return { baseUrl, isCallersAddress: false, credential: "sandbox", timeoutMs: SANDBOX_TIMEOUT_MS };
  }
  if (ownUrl === null) throw new Error(`connection ${account.connection} has no base URL`);
  const { isCallersAddress, timeoutMs } = account;
  // A sandbox with its own base URL needs a credential as well.
  const credential = account.credential ?? (account.kind === "sandbox" ? "sandbox" : null);
  return { baseUrl: ownUrl, isCallersAddress, credential, timeoutMs };
}
