// Determines what is proven about the data of a model on an account, per capability [data-policy.facts]. Pure.
import type { DataPolicyStatement } from "../contract/settings/data-policy.ts";
import { policyFactsOf } from "../providers/data-policy/facts-of.ts";
import { hostOf, regionalHost } from "../providers/data-policy/regional-hosts.ts";
import type { PolicyUse } from "../providers/data-policy/policy-fact.ts";
import type { ProviderKind, SpeechModel } from "../providers/provider.ts";
import type { Target } from "../routing/types.ts";

interface PolicyAccount {
  readonly kind: ProviderKind;
  /** Null: the provider's own address. */
  readonly baseUrl: string | null;
  readonly statement?: DataPolicyStatement | null;
}

type Addresses = ReadonlyMap<ProviderKind, { readonly defaultBaseUrl: string | null }>;
interface Adapters {
  readonly speech: Addresses;
  readonly chat: Addresses;
}

export function targetDataPolicy(
  account: PolicyAccount,
  { name, speech, chat }: Pick<Target, "speech" | "chat"> & { readonly name: string },
  adapters: Adapters,
): NonNullable<Target["dataPolicy"]> {
  const { kind, baseUrl, statement = null } = account;
  const facts = (uses: readonly PolicyUse[]) =>
    policyFactsOf({ kind, baseUrl, statement }, { model: name, uses }, defaultBaseUrl(kind, adapters));
  return {
    ...(speech === null ? {} : { audio_input: facts(usesOf(speech)) }),
    ...(chat === null ? {} : { chat: facts(["chat"]) }),
  };
}

function usesOf({ streamsOnly, features }: SpeechModel): readonly PolicyUse[] {
  if (streamsOnly === true) return ["live"];
  return features.streaming === undefined ? ["files"] : ["files", "live"];
}

/** Settings that the regional address of an account needs in each request. */
export function regionalSettings({ kind, baseUrl }: PolicyAccount): Readonly<Record<string, unknown>> {
  if (baseUrl === null) return {};
  const host = hostOf(kind, baseUrl, null);
  return host === null ? {} : (regionalHost(kind, host)?.settings ?? {});
}

function defaultBaseUrl(kind: ProviderKind, { speech, chat }: Adapters): string | null {
  return speech.get(kind)?.defaultBaseUrl ?? chat.get(kind)?.defaultBaseUrl ?? null;
}
