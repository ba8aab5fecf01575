// Resolves where a target's call is sent: its stored account, or the sandbox for test keys and simulated targets [providers.test-key-address].
import type { Account } from "../../directory/snapshot.ts";
import { ProviderError } from "../../providers/io.ts";
import type { AccountKey, Target } from "../../routing/types.ts";
import type { GatewayServices } from "../services.ts";

export interface ResolvedAccount {
  readonly baseUrl: string;
  /** The workspace configured the address, so that the rules for addresses of callers apply. */
  readonly isCallersAddress: boolean;
  readonly credential: string | null;
  readonly timeoutMs: number;
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
  const isHere = services.providers.get(account.kind)?.isOnThisMachine === true;
  const ownUrl = (isHere ? null : account.baseUrl) ?? adapter?.defaultBaseUrl ?? null;
  if (testMode || (account.kind === "sandbox" && ownUrl === null)) {
    const baseUrl = services.sandboxUrl(account.kind, target.settings["dialect"]);
    // The sandbox accepts any non-empty credential, so the real one is not sent.
    return { baseUrl, isCallersAddress: false, credential: "sandbox", timeoutMs: SANDBOX_TIMEOUT_MS };
  }
  if (ownUrl === null) throw new Error(`connection ${account.connection} has no base URL`);
  const { isCallersAddress } = account;
  // Waiting for a model on this machine may take long: the deadline of the request or job counts.
  const timeoutMs = isHere ? Number.POSITIVE_INFINITY : account.timeoutMs;
  // A sandbox with its own base URL needs a credential as well.
  const credential = account.credential ?? (account.kind === "sandbox" ? "sandbox" : null);
  return { baseUrl: ownUrl, isCallersAddress, credential, timeoutMs };
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
