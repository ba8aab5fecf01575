// Reads accounts and routes from storage into a snapshot (contract 10). Credentials are opened here and nowhere else.
import { createPriceBook, parseAudioPrice, type PriceBook } from "../metering/price.ts";
import { providers } from "../providers/registry.ts";
import type { Database } from "../storage/database.ts";
import type { Seal, SealPlace } from "../storage/seal.ts";
import { createDirectory, type Directory, type DirectoryScope } from "./snapshot.ts";
import { providerKind, storedConnection, storedPrice, storedRoute } from "./stored.ts";

export interface DirectoryServices {
  readonly database: Database;
  readonly seal: Seal;
}

export async function loadDirectory({ database, seal }: DirectoryServices): Promise<Directory> {
  const connections = await database.db.selectFrom("connections").selectAll().execute();
  const routes = await database.db.selectFrom("routes").selectAll().execute();
  return createDirectory(
    {
      accounts: connections.map((row) => {
        const { timeoutSeconds, models } = storedConnection.parse(row.settings);
        const credential =
          row.credential === null ? null : seal.open(row.credential, credentialPlace(row.scope, row.id)).toString();
        return {
          scope: row.scope,
          account: {
            key: `${row.scope}/${row.id}`,
            connection: row.id,
            kind: providerKind.parse(row.kind),
            baseUrl: row.base_url,
            credential,
            timeoutMs: timeoutSeconds * 1000,
            models,
          },
        };
      }),
      routes: routes.map((row) => ({ scope: row.scope, id: row.id, definition: storedRoute.parse(row.definition) })),
    },
    providers,
  );
}

/** The operator's audio prices on top of the built-in ones. */
export async function loadPrices(database: Database): Promise<PriceBook> {
  const rows = await database.db.selectFrom("prices").selectAll().execute();
  const prices = rows.flatMap((row) => {
    const { usdPerAudioHour, ...rest } = storedPrice.parse(row.definition);
    if (usdPerAudioHour === null) return [];
    const price = parseAudioPrice({ provider: row.provider, model: row.model, usdPerAudioHour, ...rest });
    return price === null ? [] : [price];
  });
  return createPriceBook(prices);
}

/** What a sealed credential is bound to: moved to another connection it does not open. */
export function credentialPlace(scope: DirectoryScope, id: string): SealPlace {
  return ["connection", scope, id];
}
