// Loads accounts and routes from storage into a snapshot. Credentials are opened here, for the code that calls providers.
import {
  type AudioPrice,
  type ChatPrice,
  createPriceBook,
  type FreeModel,
  parseAudioPrice,
  parseChatPrice,
  type PriceBook,
} from "../metering/price.ts";
import { regionalHost } from "../providers/data-policy/regional-hosts.ts";
import type { LocalState } from "../providers/local/local-calls.ts";
import { withLocalModels } from "../providers/local/local.ts";
import { chatProviders, providers } from "../providers/registry.ts";
import { listPrices } from "../metering/store/prices.ts";
import { type ModelList, listModelLists } from "./store/model-lists.ts";
import { listPauses } from "./store/connection-pauses.ts";
import { listAllConnections } from "./store/connections.ts";
import { listAllRoutes } from "./store/routes.ts";
import type { Database } from "../storage/database.ts";
import { readDataKeys } from "../storage/secrets/data-keys.ts";
import type { Seal } from "../storage/secrets/seal.ts";
import { credentialPlace } from "../storage/secrets/secret-places.ts";
import { accountKey } from "./account-key.ts";
import type { ListedEnds } from "./listed-end.ts";
import { createDirectory, type Directory, PLATFORM } from "./snapshot.ts";
import { providerKind, storedConnection, storedPrice, storedRoute } from "./stored-schemas.ts";
import { bypassRls } from "../storage/system.ts";

export interface DirectoryServices {
  readonly database: Database;
  readonly seal: Seal;
  /** What is installed on this machine. Absent: nothing is. */
  readonly localState?: (() => Promise<LocalState>) | undefined;
}

export const NO_LOCAL_MODELS: LocalState = { isEngineInstalled: true, models: [] };

export async function loadDirectory({ database, seal, localState }: DirectoryServices): Promise<Directory> {
  const state = (await localState?.()) ?? NO_LOCAL_MODELS;
  const connections = await listAllConnections(bypassRls(database, "installation").db);
  const keys = await readDataKeys(bypassRls(database, "installation").db, seal, null);
  const routes = await listAllRoutes(bypassRls(database, "installation").db);
  const pauses = await listPauses(bypassRls(database, "installation").db, null);
  const lists = new Map(
    (await listModelLists(bypassRls(database, "installation").db)).map((list) => [
      accountKey(list.scope, list.connection),
      listedEnds(list),
    ]),
  );
  return createDirectory(
    {
      accounts: connections.map((row) => {
        const { timeoutSeconds, models, region, dataPolicy } = storedConnection.parse(row.settings);
        const kind = providerKind.parse(row.kind);
        const regional = region === null ? undefined : regionalHost(kind, region);
        return {
          scope: row.scope,
          account: {
            key: accountKey(row.scope, row.id),
            connection: row.id,
            kind,
            baseUrl: row.base_url ?? regional?.baseUrl ?? null,
            // An address from the file is the operator's, and without one it is a constant of the adapter: neither is the caller's.
            isCallersAddress: row.scope !== PLATFORM && row.managed_by !== "file" && row.base_url !== null,
            credential: row.credential === null ? null : keys.open(row.credential, credentialPlace(row.scope, row.id)),
            timeoutMs: timeoutSeconds * 1000,
            models,
            listedEnds: lists.get(accountKey(row.scope, row.id)) ?? {},
            statement: dataPolicy,
          },
        };
      }),
      routes: routes.flatMap(({ scope, id, version, definition }) =>
        version === null ? [] : [{ scope, id, version, definition: storedRoute.parse(definition) }],
      ),
      pauses: pauses.map(({ scope, connection, model, ends_at: until }) => ({
        account: accountKey(scope, connection),
        model,
        until,
      })),
    },
    { speech: withLocalModels(providers, state), chat: chatProviders },
  );
}

function listedEnds({ ends, readAt }: ModelList): ListedEnds {
  const readOn = readAt.toISOString().slice(0, "2027-02-26".length);
  return Object.fromEntries(Object.entries(ends).map(([model, date]) => [model, { date, readOn }]));
}

/** Loads the operator's prices, which replace built-in ones. */
export async function loadPrices(database: Database): Promise<PriceBook> {
  const rows = await listPrices(bypassRls(database, "installation").db);
  const audio: AudioPrice[] = [];
  const chat: ChatPrice[] = [];
  const free: FreeModel[] = [];
  for (const { provider, model, definition } of rows) {
    const stored = storedPrice.parse(definition);
    if (stored.free) free.push({ provider, model });
    const { usdPerAudioHour, perChannel, usdPerMillionInputTokens, usdPerMillionOutputTokens } = stored;
    const common = { provider, model, source: stored.source, asOf: stored.asOf };
    const audioPrice = usdPerAudioHour === null ? null : parseAudioPrice({ ...common, usdPerAudioHour, perChannel });
    const chatPrice = parseChatPrice({ ...common, usdPerMillionInputTokens, usdPerMillionOutputTokens });
    if (audioPrice !== null) audio.push(audioPrice);
    if (chatPrice !== null) chat.push(chatPrice);
  }
  return createPriceBook(audio, chat, free);
}
