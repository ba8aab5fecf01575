// Lists the facts that hold for one use of an account: what the provider publishes about the account's address, and what the account's owner states
// [data-policy.facts] [data-policy.statement]. Pure.
import type { DataPolicyStatement } from "../../contract/settings/data-policy.ts";
import type { ProviderKind } from "../provider.ts";
import type { PolicyFact, PolicyUse } from "./policy-fact.ts";
import { hostOf } from "./regional-hosts.ts";
import { VENDOR_FACTS } from "./vendor-facts.ts";

export interface PolicyAccount {
  readonly kind: ProviderKind;
  /** Null: the provider's own address. */
  readonly baseUrl: string | null;
  readonly statement: DataPolicyStatement | null;
}

export interface PolicySubject {
  readonly model: string;
  /** How the model can be called. A fact has to hold for each of them. */
  readonly uses: readonly PolicyUse[];
}

const GATEWAY = { basis: "gateway", source: "the data stays on this machine", verifiedOn: null } as const;
const ON_THIS_MACHINE: readonly PolicyFact[] = [
  { aspect: "training", value: "never", ...GATEWAY },
  { aspect: "retention", value: "none", ...GATEWAY },
  { aspect: "regions", value: "any", ...GATEWAY },
];

export function policyFactsOf(
  { kind, baseUrl, statement }: PolicyAccount,
  { model, uses }: PolicySubject,
  defaultBaseUrl: string | null,
): readonly PolicyFact[] {
  if ((kind === "sandbox" || kind === "local") && baseUrl === null) return ON_THIS_MACHINE;
  const host = hostOf(kind, baseUrl, defaultBaseUrl);
  const published =
    host === null
      ? []
      : VENDOR_FACTS[kind].filter(
          (fact) =>
            fact.hosts?.includes(host) !== false &&
            fact.models?.includes(model) !== false &&
            uses.every((use) => fact.uses?.includes(use) !== false),
        );
  return [
    ...statedFacts(kind, statement),
    ...published.map(({ hosts: _hosts, uses: _uses, models: _models, ...fact }) => fact),
  ];
}

const STATED = { basis: "statement", source: "stated for the connection", verifiedOn: null } as const;

/** Parameters that an agreement needs in each request, if the provider has one. */
const FORCED: { readonly [K in ProviderKind]?: Readonly<Record<"training" | "none" | "days" | "regions", object>> } = {
  deepgram: {
    training: { mip_opt_out: true },
    none: { mip_opt_out: true },
    days: { mip_opt_out: true },
    regions: { mip_opt_out: true },
  },
  elevenlabs: { training: {}, none: { zero_retention: true }, days: {}, regions: {} },
  openai: { training: {}, none: { store: false }, days: { store: false }, regions: {} },
};

function statedFacts(kind: ProviderKind, statement: DataPolicyStatement | null): readonly PolicyFact[] {
  const { training, retention, regions } = statement ?? {};
  const forces = (part: "training" | "none" | "days" | "regions") => {
    const forced = FORCED[kind]?.[part] ?? {};
    return Object.keys(forced).length === 0 ? STATED : { ...STATED, forces: { ...forced } };
  };
  return [
    ...(training == null ? [] : [{ aspect: "training", value: training, ...forces("training") } as const]),
    ...(retention == null
      ? []
      : [
          {
            aspect: "retention",
            value: retention,
            ...forces(retention === "none" ? "none" : "days"),
          } as const,
        ]),
    ...(regions == null ? [] : [{ aspect: "regions", value: regions, ...forces("regions") } as const]),
  ];
}
