// Where a target's call is sent: its stored account, or the sandbox for test keys and simulated targets [providers.test-key-address].
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
  /** The workspace named it: to be dialled as a caller's. */
  readonly isCallersAddress: boolean;
  readonly credential: string | null;
  readonly timeoutMs: number;
}

/** Circuits of test keys begin with it: the sandbox was called, and what it was told to do says nothing of the account. */
export const TEST_CIRCUITS = "test/";

/** What rests after failures: one model on one account, so that no tenant's bad key takes a provider from another. */
export function circuitOf(target: Target, testMode: boolean): string {
  const known = circuitNames.get(target);
  if (known !== undefined) return testMode ? known.test : known.live;
  const live = `${target.account}/${target.model}`;
  const names = { live, test: TEST_CIRCUITS + live };
  circuitNames.set(target, names);
  return testMode ? names.test : names.live;
}

/** A target is its route's for as long as that stays as it is; a text made anew for each look-up would be hashed anew. */
const circuitNames = new WeakMap<Target, { readonly live: string; readonly test: string }>();

/** As of now. Test keys call the sandbox, which nobody pauses. */
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

/** Since it was chosen: others were tried before it, or speech was heard that it is to translate, which may have taken long. */
export function isPausedByNow(
  { directory, now }: Pick<UnavailabilityServices, "directory" | "now">,
  target: Target,
  { testMode }: { readonly testMode: boolean },
): boolean {
  return !testMode && directory().pausedUntil(target.account, target.model, now()) !== null;
}

export type UnavailabilityServices = Pick<GatewayServices, "circuits" | "directory" | "now" | "prices">;

/** A caller, or what is kept of it. */
export type PlanHolder = Pick<Principal, "testMode" | "workspace"> | Pick<Payer, "testMode" | "hasPlan">;

/** For what is decided now and called later: what is unavailable now may be in use by then, but what has no price stays so. */
export function unpricedFor({ prices }: Pick<GatewayServices, "prices">, holder: PlanHolder): UnavailabilityOf {
  const hasPlan = "hasPlan" in holder ? holder.hasPlan : holder.workspace.plan !== null;
  if (!hasPlan || holder.testMode) return () => null;
  const book = prices();
  return (target, capability) => (isPaidByPlan(book, target, capability) ? null : UNPRICED_TARGET);
}

const UNPRICED_TARGET = { kind: "unpriced" } as const;

/** On a shared connection a plan pays for priced models only, and for those that the operator gives away. */
export function isPaidByPlan(
  book: PriceBook,
  { ownership, provider, model }: Pick<Target, "ownership" | "provider" | "model">,
  capability: Capability,
): boolean {
  if (ownership !== "platform" || book.isFree(provider, model)) return true;
  return (capability === "chat" ? book.chat(provider, model) : book.audio(provider, model)) !== null;
}

/** Whether the account that a target, a job or a run was given is there: its connection may be gone, or stand for another provider now. */
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

/** Throws a `ProviderError` where the account has gone since the target was chosen: there is nobody to ask. */
export function resolveAccount(
  services: Pick<GatewayServices, "directory" | "providers" | "chatProviders" | "sandboxUrl">,
  target: AccountName & Pick<Target, "settings">,
  testMode: boolean,
): ResolvedAccount {
  const account = accountOf(services, target);
  if (account === undefined) throw new ProviderError("not_found", { reason: "no_account" });
  // Some kinds only speak, some only chat; those that do both live at one address.
  const adapter = services.providers.get(account.kind) ?? services.chatProviders.get(account.kind);
  const ownUrl = account.baseUrl ?? adapter?.defaultBaseUrl ?? null;
  if (testMode || (account.kind === "sandbox" && ownUrl === null)) {
    const baseUrl = services.sandboxUrl(account.kind, target.settings["dialect"]);
    // Any non-empty credential is accepted there; the real one stays at home.
    return { baseUrl, isCallersAddress: false, credential: "sandbox", timeoutMs: SANDBOX_TIMEOUT_MS };
  }
  if (ownUrl === null) throw new Error(`connection ${account.connection} has no base URL`);
  const { isCallersAddress, timeoutMs } = account;
  // A sandbox at an address of its own wants one as well.
  const credential = account.credential ?? (account.kind === "sandbox" ? "sandbox" : null);
  return { baseUrl: ownUrl, isCallersAddress, credential, timeoutMs };
}
