// Directories with the real adapters and their catalogue, and the radar over them.
import type { WorkspaceId } from "../../src/contract/ids.ts";
import { brand } from "../../src/contract/ids.ts";
import { accountKey } from "../../src/directory/account-key.ts";
import { createDirectory, type Directory, PLATFORM } from "../../src/directory/snapshot.ts";
import { settingsOf, storedConnection, storedRoute } from "../../src/directory/stored-schemas.ts";
import { createRouteJudge } from "../../src/gateway/retirement/judge-routes.ts";
import { listRetirements, type Retirement } from "../../src/gateway/retirement/list-retirements.ts";
import { proposeTarget } from "../../src/gateway/retirement/propose-target.ts";
import type { WorkspaceUsers } from "../../src/gateway/retirement/route-users.ts";
import { createPriceBook } from "../../src/metering/price.ts";
import type { ProviderKind } from "../../src/providers/provider.ts";
import { chatProviders, providers } from "../../src/providers/registry.ts";

export interface RouteFixture {
  /** `connection/model`. */
  readonly targets: readonly string[];
  readonly scope?: string;
  readonly [setting: string]: unknown;
}

export interface Connection {
  readonly kind: ProviderKind;
  readonly scope?: string;
  readonly models?: Readonly<Record<string, unknown>>;
  readonly credential?: string | null;
}

export const ADAPTERS = { speech: providers, chat: chatProviders };

export function directoryOf(
  connections: Readonly<Record<string, Connection>>,
  routes: Readonly<Record<string, RouteFixture>>,
): Directory {
  const accounts = Object.entries(connections).map(
    ([name, { kind, scope = PLATFORM, models = {}, credential = "x" }]) => {
      const connection = name.split("@")[0] ?? name;
      const declared = storedConnection.parse({ models }).models;
      const key = accountKey(scope, connection);
      const facts = { key, connection, kind, baseUrl: null, isCallersAddress: false, credential, timeoutMs: 1 };
      return { scope, account: { ...facts, models: declared } };
    },
  );
  const rows = Object.entries(routes).map(([id, { targets, scope = PLATFORM, ...settings }]) => ({
    scope,
    id,
    version: 1,
    definition: storedRoute.parse({ ...settings, targets: targets.map(targetOf) }),
  }));
  return createDirectory({ accounts, routes: rows, pauses: [] }, ADAPTERS);
}

function targetOf(name: string): { readonly connection: string; readonly model: string } {
  const [connection = "", ...model] = name.split("/");
  return { connection, model: model.join("/") };
}

export function radarOf(directory: Directory) {
  const prices = createPriceBook([]);
  const services = { directory: () => directory, prices: () => prices, chatProviders, adapters: ADAPTERS };
  const judge = createRouteJudge(services);
  return {
    list: (workspaces: readonly WorkspaceUsers[] = []) =>
      listRetirements({ directory: () => directory, judge }, workspaces),
    propose: (retirement: Retirement) => proposeTarget(services, retirement),
  };
}

/** A workspace with one app. */
export function usersOf(
  id: string,
  settings: object,
  { hasPlan = false, keys = [] }: { readonly hasPlan?: boolean; readonly keys?: readonly object[] } = {},
): WorkspaceUsers {
  const app = { id: brand("app", `app_${id}`), name: id, ...settingsOf(settings) };
  const own = [{}, ...keys].map((key) => settingsOf(key).routing);
  return { id: workspaceId(id), hasPlan, apps: [{ app, slug: `${id}-app`, keys: own }] };
}

export function workspaceId(id: string): WorkspaceId {
  return brand("workspace", id);
}
