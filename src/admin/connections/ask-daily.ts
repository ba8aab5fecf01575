// Asks provider accounts once a day, if the operator switches it on, on which days their models end [providers.daily-question]. One process asks for a
// connection on a day: the claim is a row.
import { accountKey } from "../../directory/account-key.ts";
import { claimQuestion, listUnasked } from "../../directory/store/model-lists.ts";
import type { ProviderKind } from "../../providers/provider.ts";
import { bypassRls } from "../../storage/system.ts";
import { type ConnectionTestServices, testConnection } from "./test-connection.ts";

/** Returns the number of accounts that this process asked. */
export async function askDaily(services: ConnectionTestServices, signal: AbortSignal): Promise<number> {
  const kinds = (Object.keys(services.probes) as ProviderKind[]).filter((kind) => services.probes[kind].listsEnds);
  const { db } = bypassRls(services.database, "claim");
  let asked = 0;
  for (const place of await listUnasked(db, kinds)) {
    if (signal.aborted) break;
    if (!(await claimQuestion(db, place))) continue;
    asked += 1;
    // A failed question is asked again tomorrow: the catalogue still has its dates.
    const { ok, outcome } = await testConnection(services, {
      scope: place.scope,
      id: place.connection,
      signal,
    });
    if (!ok)
      services.logger.warn(
        { account: accountKey(place.scope, place.connection), reason: outcome },
        "could not read the provider's list of models",
      );
  }
  return asked;
}
