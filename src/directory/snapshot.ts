// Everything the operator configured, as plain data of one moment: accounts, routes as each workspace sees them, and the routing context
// of a key [keys.inherit]. Built from storage by `load-directory.ts`. Never changed in place.
import type { AppInfo, PurposeBinding, RoutingSettings } from "../auth/principal.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { ownMember } from "../lib/json/own-member.ts";
import type { ChatProvider } from "../providers/chat-provider.ts";
import type { ProviderKind, SpeechProvider } from "../providers/provider.ts";
import type { AccountKey, Ownership, Purpose, Route, RoutingContext, Target } from "../routing/types.ts";
import { accountKey } from "./account-key.ts";
import { chatModel } from "./chat-model.ts";
import { speechModel } from "./speech-model.ts";
import type { StoredModel, StoredRoute } from "./stored.ts";

/** A stored provider account, its credential opened. */
export interface Account {
  readonly key: AccountKey;
  readonly connection: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string | null;
  /** A workspace named the address: it is dialled as any caller's, behind the guard. */
  readonly isCallersAddress: boolean;
  readonly credential: string | null;
  readonly timeoutMs: number;
  readonly models: Readonly<Record<string, StoredModel>>;
}

export const PLATFORM = "platform";
/** `platform` or a workspace id. */
export type DirectoryScope = string;

export interface DirectoryRows {
  readonly accounts: readonly { readonly scope: DirectoryScope; readonly account: Account }[];
  readonly routes: readonly RouteOfScope[];
  readonly pauses: readonly Pause[];
}

/** By hand, until then; whether that is over is for whoever asks to say. */
export interface Pause {
  readonly account: AccountKey;
  /** Null: all of them. */
  readonly model: string | null;
  readonly until: Date;
}

export interface RouteOfScope {
  readonly scope: DirectoryScope;
  readonly id: string;
  readonly version: number;
  readonly definition: StoredRoute;
}

export interface Directory {
  readonly account: (key: AccountKey) => Account | undefined;
  /** Until when a model on an account is paused by hand; null: it is not, at that time. */
  readonly pausedUntil: (key: AccountKey, model: string, at: Date) => Date | null;
  readonly pausedAt: (at: Date) => readonly Pause[];
  /** The accounts a workspace can name: its own, and the platform's that no own one replaces; of the platform, its own. */
  readonly accountsOf: (scope: DirectoryScope) => readonly VisibleAccount[];
  readonly routesOf: (workspace: WorkspaceId) => ReadonlyMap<string, Route>;
  /** `own` is the key's settings; what it leaves null comes from its app. */
  readonly contextOf: (workspace: WorkspaceId, app: AppInfo, own: RoutingSettings) => RoutingContext;
  /** The same set-up with this version of a route in the place of the one that serves: what its publishing would make of it. */
  readonly withRoute: (version: RouteOfScope) => Directory;
}

export interface VisibleAccount {
  readonly account: Account;
  readonly isOwn: boolean;
  readonly ownership: Ownership;
}

/** Whose models the routes are built of. */
export interface Adapters {
  readonly speech: ReadonlyMap<ProviderKind, SpeechProvider>;
  readonly chat: ReadonlyMap<ProviderKind, ChatProvider>;
}

export function createDirectory(rows: DirectoryRows, providers: Adapters): Directory {
  const accounts = new Map(rows.accounts.map(({ account }) => [account.key, account]));
  const pauses = Map.groupBy(rows.pauses, ({ account }) => account);
  const routesByWorkspace = new Map<WorkspaceId, ReadonlyMap<string, Route>>();

  const routesOf = (workspace: WorkspaceId): ReadonlyMap<string, Route> => {
    const known = routesByWorkspace.get(workspace);
    if (known !== undefined) return known;
    const built = new Map<string, Route>();
    // The workspace's own route of an id replaces the platform's, as its connections do.
    for (const scope of [PLATFORM, workspace]) {
      for (const row of rows.routes) {
        if (row.scope === scope) built.set(row.id, buildRoute(row, visibleTo(workspace, accounts), providers));
      }
    }
    routesByWorkspace.set(workspace, built);
    return built;
  };

  return {
    account: (key) => accounts.get(key),
    pausedUntil: (key, model, at) => {
      const known = pauses.get(key);
      // Asked twice a call, and hardly any account is.
      if (known === undefined) return null;
      const ends = known.filter((each) => (each.model === null || each.model === model) && each.until > at);
      return ends.map(({ until }) => until).reduce<Date | null>((a, b) => (a !== null && a > b ? a : b), null);
    },
    pausedAt: (at) => rows.pauses.filter(({ until }) => until > at),
    accountsOf: (asking) => {
      const names = rows.accounts.flatMap(({ scope, account }) =>
        scope === PLATFORM || scope === asking ? [account.connection] : [],
      );
      const accountOf = visibleTo(asking, accounts);
      return [...new Set(names)].toSorted().flatMap((name) => accountOf(name) ?? []);
    },
    routesOf,
    contextOf: (workspace, app, own) => {
      const routes = routesOf(workspace);
      const route = (id: string | null): Route => (id === null ? undefined : routes.get(id)) ?? emptyRoute(id ?? "");
      const override = own.audioInputOverride ?? app.routing.audioInputOverride;
      return {
        route: route(own.route ?? app.routing.route),
        audioInputOverride: override === null ? null : route(override),
        boundPurposes: [...own.purposes, ...app.routing.purposes].map(toPurpose),
        defaultPurpose: own.defaultPurpose ?? app.routing.defaultPurpose,
        audioPurposePolicy: own.audioPurposePolicy ?? app.routing.audioPurposePolicy ?? "fallback",
        routes,
      };
    },
    withRoute: (version) => {
      const others = rows.routes.filter(({ scope, id }) => scope !== version.scope || id !== version.id);
      return createDirectory({ ...rows, routes: [...others, version] }, providers);
    },
  };
}

type AccountOf = (connection: string) => VisibleAccount | undefined;

/** How a workspace, or the platform, finds an account by the name of its connection. */
function visibleTo(scope: DirectoryScope, accounts: ReadonlyMap<AccountKey, Account>): AccountOf {
  return (connection) => {
    const own = scope === PLATFORM ? undefined : accounts.get(accountKey(scope, connection));
    const account = own ?? accounts.get(accountKey(PLATFORM, connection));
    if (account === undefined) return undefined;
    const ownership = account.kind === "sandbox" ? "simulated" : own === undefined ? "platform" : "byok";
    return { account, isOwn: own !== undefined, ownership };
  };
}

function buildRoute(
  { id, version, definition: stored }: RouteOfScope,
  accountOf: AccountOf,
  providers: Adapters,
): Route {
  const targets = stored.targets.flatMap((target, index): readonly Target[] => {
    const found = accountOf(target.connection);
    if (found === undefined) return [];
    const { account, ownership } = found;
    const declared = ownMember(account.models, target.model);
    return [
      {
        position: index + 1,
        connection: target.connection,
        account: account.key,
        ownership,
        provider: account.kind,
        model: target.model,
        speech: speechModel(providers.speech.get(account.kind), target.model, declared, target.settings),
        chat: chatModel(account.kind, providers.chat.get(account.kind), target.model, declared),
        profiles: target.profiles,
        settings: { ...(declared?.dialect == null ? {} : { dialect: declared.dialect }), ...target.settings },
        firstContentTimeoutMs: target.firstContentTimeoutSeconds * 1000,
        profileSettings: target.profileSettings,
      },
    ];
  });
  return {
    id,
    version,
    targets,
    purposes: stored.purposes.map(toPurpose),
    profileOverrideAllowed: stored.profileOverrideAllowed,
    mayPayTwice: stored.mayPayTwice,
    fallbackAfterUnknown: stored.fallbackAfterUnknown,
    acceptWeak: stored.acceptWeak,
    translateViaChat: stored.translateViaChat,
    splitLongAudio: stored.splitLongAudio,
  };
}

function toPurpose(binding: PurposeBinding): Purpose {
  const { purpose, description, isEnabled, isPublished, route, defaults } = binding;
  return { label: purpose, description, isEnabled, isPublished, route, defaults };
}

/** A key whose route is gone has no model, and says so; it does not borrow another route. */
function emptyRoute(id: string): Route {
  return {
    id,
    version: null,
    targets: [],
    purposes: [],
    profileOverrideAllowed: true,
    mayPayTwice: false,
    fallbackAfterUnknown: true,
    acceptWeak: [],
    translateViaChat: false,
    splitLongAudio: false,
  };
}
