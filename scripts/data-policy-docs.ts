// The section of docs/providers.md about the handling of data: facts by provider, and regional addresses [data-policy.facts].
import { regionalHost, regionsOf } from "../src/providers/data-policy/regional-hosts.ts";
import { type VendorFact, VENDOR_FACTS } from "../src/providers/data-policy/vendor-facts.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../src/providers/provider.ts";

export function dataPolicySection(): readonly string[] {
  return [
    "## Data policy",
    "",
    "What is proven of each provider's handling of data, at its own addresses, for the named models or all of that use. Rules are in",
    "[reference/data-policy.md](reference/data-policy.md). What is not listed is not known, so that a requirement of it refuses the provider, unless the",
    "connection states it. *Sent*: the setting that a request is sent with if it relies on the fact.",
    "",
    "| provider | use | address | fact | value | sent | verified on | source |",
    "|---|---|---|---|---|---|---|---|",
    ...PROVIDER_KINDS.flatMap((kind) =>
      VENDOR_FACTS[kind].length === 0 ? [unknownRow(kind)] : VENDOR_FACTS[kind].map((fact) => factRow(kind, fact)),
    ),
    "",
    "### Regional addresses",
    "",
    "`region` of a connection selects one. That it exists does not prove where the data is processed: see the facts above.",
    "",
    "| provider | region | address | verified on | source |",
    "|---|---|---|---|---|",
    ...PROVIDER_KINDS.flatMap((kind) => regionsOf(kind).map((region) => hostRow(kind, region))),
    "",
  ];
}

const UNKNOWN: Readonly<Partial<Record<ProviderKind, string>>> = {
  sandbox: "inside the gateway nothing leaves the process: it meets every requirement",
  local: "nothing leaves the machine: it meets every requirement",
  "openai-compatible": "any server can be at the address",
};

function unknownRow(kind: ProviderKind): string {
  return `| ${kind} | | | ${UNKNOWN[kind] ?? "nothing verified"} | | | | |`;
}

function factRow(kind: ProviderKind, fact: VendorFact): string {
  const { aspect, value, uses, hosts, models, forces = {}, onlyWith = {}, source, verifiedOn } = fact;
  const conditions = Object.entries(onlyWith).map(
    ([name, allowed]) => `${name}: ${allowed.map((each) => each ?? "not set").join(" or ")}`,
  );
  return row([
    kind,
    [uses?.join(", ") ?? "all", ...(models === undefined ? [] : [`with ${models.join(", ")}`])].join(" "),
    [hosts?.join(", ") ?? "all", ...conditions].join("; "),
    aspect,
    typeof value === "object" ? value.join(", ") : typeof value === "number" ? `${value} days` : value,
    Object.entries(forces)
      .map(([name, forced]) => `\`${name}: ${String(forced)}\``)
      .join(", "),
    verifiedOn ?? "undated page",
    source,
  ]);
}

function hostRow(kind: ProviderKind, region: string): string {
  const host = regionalHost(kind, region);
  return row([kind, region, `\`${host?.baseUrl ?? ""}\``, host?.verifiedOn ?? "undated page", host?.source ?? ""]);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
