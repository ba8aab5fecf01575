// `patchbay doctor`, check of the days on which models end: recommends to ask the providers that publish them [cli.doctor-model-life].
import type { Configuration } from "../../config/configuration.ts";
import { accountProbes } from "../../providers/registry.ts";
import { configuredAccounts } from "./check-network.ts";
import { type Finding, ok, warn } from "./finding.ts";

export function checkModelLife(configuration: Configuration): readonly Finding[] {
  const listing = configuredAccounts(configuration).filter(
    ({ connection }) => accountProbes[connection.kind].listsEnds,
  );
  if (listing.length === 0) return [ok("model_life", "no connected provider publishes when its models end")];
  const names = listing.map(({ name }) => name).join(", ");
  if (configuration.modelLife.askProvidersDaily)
    return [ok("model_life", `${names}: asked once a day when their models end`)];
  return [
    warn(
      "model_life",
      `${names}: the provider publishes when its models end, and is not asked`,
      "set model_life.ask_providers_daily: true (free, once a day), or run `patchbay providers test` now and then",
    ),
  ];
}
