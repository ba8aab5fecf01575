// An immutable snapshot of what the operator configured: accounts, routes as each workspace sees them, and the routing context of a key [keys.inherit].
// `load-directory.ts` builds it from storage.
import type { AppInfo, PurposeBinding, RoutingSettings } from "../auth/principal.ts";
import type { DataPolicyStatement } from "../contract/settings/data-policy.ts";
import type { WorkspaceId } from "../contract/ids.ts";
import { ownProperty } from "../lib/json/own-property.ts";
import type { ChatProvider } from "../providers/chat/chat-provider.ts";
import type { ProviderKind, SpeechProvider } from "../providers/provider.ts";
import { combineDataPolicies, requiredDataPolicy } from "../routing/data-policy.ts";
import type { AccountKey, Ownership, Purpose, Route, Routes, RoutingContext, Target } from "../routing/types.ts";
import { accountKey } from "./account-key.ts";
import { chatModel } from "./chat-model.ts";
import { type ListedEnds, withEnd } from "./listed-end.ts";
import { speechModel } from "./speech-model.ts";
import { regionalSettings, targetDataPolicy } from "./target-data-policy.ts";
import type { StoredModel, StoredRoute } from "./stored-schemas.ts";

/** A stored provider account with its opened credential. */
export interface Account {
  readonly key: AccountKey;
  readonly connection: string;
  readonly kind: ProviderKind;
  /** Null: the provider's own address. */
  readonly baseUrl: string | null;
  /** True: a workspace set the address, so calls go through the guarded connector like a caller's URL. */
  readonly isCallersAddress: boolean;
  readonly credential: string | null;
  readonly timeoutMs: number;
  readonly models: Readonly<Record<string, StoredModel>>;
  /** By the provider's own list, as far as it was read. */
  readonly listedEnds?: ListedEnds;
  /** What the account's owner agreed with the provider about the data. */
  readonly statement?: DataPolicyStatement | null;
}

export const PLATFORM = "platform";
/** `platform`, for shared objects, or a workspace id. */
export type DirectoryScope = string;

export interface DirectoryRows {
  readonly accounts: readonly { readonly scope: DirectoryScope; readonly account: Account }[];
  readonly routes: readonly RouteOfScope[];
  readonly pauses: readonly Pause[];
}

/** A manual pause. The caller checks whether `until` has passed. */
export interface Pause {
  readonly account: AccountKey;
  /** Null: all models of the account. */
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
  /** With the models of this machine as they are installed. */
  readonly adapters: Adapters;
  readonly account: (key: AccountKey) => Account | undefined;
  /** Time until which a model on an account is paused manually. Null: it is not paused at `at`. */
  readonly pausedUntil: (key: AccountKey, model: string, at: Date) => Date | null;
  readonly pausedAt: (at: Date) => readonly Pause[];
  /** The accounts that a workspace can reference: its own, and shared ones that no own account replaces. */
  readonly accountsOf: (scope: DirectoryScope) => readonly VisibleAccount[];
  readonly routesOf: (workspace: DirectoryScope) => Routes;
  /** The owners of all connections and routes: `platform`, and workspaces with some of their own. */
  readonly scopes: ReadonlySet<DirectoryScope>;
  /** Whether the route of this id that the scope sees is its own. */
  readonly ownsRoute: (scope: DirectoryScope, id: string) => boolean;
  /** A target as a route of the scope would have it. Null: the scope has no such connection. */
  readonly targetOf: (scope: DirectoryScope, stored: StoredTarget, position: number) => Target | null;
  /** `own` is the key's settings. Null values are inherited from its app. */
  readonly contextOf: (workspace: WorkspaceId, app: AppInfo, own: RoutingSettings) => RoutingContext;
  /** What is proven about the data of a target at present. Nothing if its account is gone. */
  readonly dataPolicyOf: (target: Target) => NonNullable<Target["dataPolicy"]>;
  /** The same snapshot with this version of a route in place of the published one, as if it were published. */
  readonly withRoute: (version: RouteOfScope) => Directory;
}

export interface VisibleAccount {
  readonly account: Account;
  readonly isOwn: boolean;
  readonly ownership: Ownership;
}

/** The adapters with models that the routes can use. */
export interface Adapters {
  readonly speech: ReadonlyMap<ProviderKind, SpeechProvider>;
  readonly chat: ReadonlyMap<ProviderKind, ChatProvider>;
}

export function createDirectory(rows: DirectoryRows, providers: Adapters): Directory {
  const accounts = new Map(rows.accounts.map(({ account }) => [account.key, account]));
  const pauses = Map.groupBy(rows.pauses, ({ account }) => account);
  const rowsByScope = byScope(rows.routes);
  const routesByWorkspace = new Map<DirectoryScope, Routes>();

  const routesOf = (workspace: DirectoryScope): Routes => {
    const cached = routesByWorkspace.get(workspace);
    if (cached !== undefined) return cached;
    // A workspace's own route replaces the shared one of the same id, as its connections do.
    const visible = [workspace, PLATFORM].flatMap((scope) => rowsByScope.get(scope) ?? []);
    const targetOf = sharedTargets(visibleTo(workspace, accounts), providers);
    const routes = buildWhenUsed(visible, (row) => buildRoute(row, targetOf));
    routesByWorkspace.set(workspace, routes);
    return routes;
  };

  return {
    adapters: providers,
    account: (key) => accounts.get(key),
    pausedUntil: (key, model, at) => {
      const accountPauses = pauses.get(key);
      // Called twice per provider call, and hardly any account is paused.
      if (accountPauses === undefined) return null;
      const active = accountPauses.filter((each) => (each.model === null || each.model === model) && each.until > at);
      return active.map(({ until }) => until).reduce<Date | null>((a, b) => (a !== null && a > b ? a : b), null);
    },
    pausedAt: (at) => rows.pauses.filter(({ until }) => until > at),
    accountsOf: (viewingScope) => {
      const names = rows.accounts.flatMap(({ scope, account }) =>
        scope === PLATFORM || scope === viewingScope ? [account.connection] : [],
      );
      const accountOf = visibleTo(viewingScope, accounts);
      return [...new Set(names)].toSorted().flatMap((name) => accountOf(name) ?? []);
    },
    routesOf,
    scopes: new Set([...rows.accounts, ...rows.routes].map(({ scope }) => scope)),
    ownsRoute: (scope, id) => rowsByScope.get(scope)?.has(id) === true,
    targetOf: (scope, target, position) =>
      buildTarget({ target, position, requireExactModel: false }, visibleTo(scope, accounts), providers),
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
        dataPolicy: combineDataPolicies([app.routing, own].map(({ dataPolicy }) => requiredDataPolicy(dataPolicy))),
        routes,
      };
    },
    dataPolicyOf: (target) => {
      const account = accounts.get(target.account);
      if (account?.kind !== target.provider) return {};
      return targetDataPolicy(account, { name: target.model, speech: target.speech, chat: target.chat }, providers);
    },
    withRoute: (version) => {
      const others = rows.routes.filter(({ scope, id }) => scope !== version.scope || id !== version.id);
      return createDirectory({ ...rows, routes: [...others, version] }, providers);
    },
  };
}

function byScope(routes: readonly RouteOfScope[]): ReadonlyMap<DirectoryScope, ReadonlyMap<string, RouteOfScope>> {
  const grouped = new Map<DirectoryScope, Map<string, RouteOfScope>>();
  for (const row of routes) {
    const ofScope = grouped.get(row.scope) ?? new Map<string, RouteOfScope>();
    grouped.set(row.scope, ofScope.set(row.id, row));
  }
  return grouped;
}

/**
 * Builds a route when it is first used. Building all 20,000 routes of a workspace of 10,000 apps stopped the process for 0.2 s after each change of the
 * configuration. The first of `visible` that has an id counts.
 */
function buildWhenUsed(
  visible: readonly ReadonlyMap<string, RouteOfScope>[],
  build: (row: RouteOfScope) => Route,
): Routes {
  const built = new Map<string, Route>();
  const get = (id: string): Route | undefined => {
    const known = built.get(id);
    if (known !== undefined) return known;
    const row = visible.find((rows) => rows.has(id))?.get(id);
    if (row === undefined) return undefined;
    const route = build(row);
    built.set(id, route);
    return route;
  };
  const ids = () => new Set(visible.toReversed().flatMap((rows) => [...rows.keys()]));
  return { get, values: () => [...ids()].flatMap((id) => get(id) ?? []) };
}

type AccountOf = (connection: string) => VisibleAccount | undefined;

/** Returns how a scope finds an account by the name of its connection. */
function visibleTo(scope: DirectoryScope, accounts: ReadonlyMap<AccountKey, Account>): AccountOf {
  return (connection) => {
    const own = scope === PLATFORM ? undefined : accounts.get(accountKey(scope, connection));
    const account = own ?? accounts.get(accountKey(PLATFORM, connection));
    if (account === undefined) return undefined;
    const ownership = account.kind === "sandbox" ? "simulated" : own === undefined ? "platform" : "byok";
    return { account, isOwn: own !== undefined, ownership };
  };
}

/**
 * Builds targets of a workspace. Equal ones of several routes are one object, because workspaces of 10,000 apps have as many routes to the same few models:
 * building a target takes some 8 µs, finding it 2.
 */
function sharedTargets(accountOf: AccountOf, providers: Adapters): (stored: TargetOfRoute) => Target | null {
  const built = new Map<string, Target | null>();
  return (stored) => {
    const definition = JSON.stringify(stored);
    const known = built.get(definition);
    if (known !== undefined) return known;
    const target = buildTarget(stored, accountOf, providers);
    built.set(definition, target);
    return target;
  };
}

function buildRoute(
  { id, version, definition: stored }: RouteOfScope,
  targetOf: (stored: TargetOfRoute) => Target | null,
): Route {
  const { requireExactModel } = stored;
  const targets = stored.targets.flatMap(
    (target, index) => targetOf({ target, position: index + 1, requireExactModel }) ?? [],
  );
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
    dataPolicy: requiredDataPolicy(stored.dataPolicy),
  };
}

export type StoredTarget = StoredRoute["targets"][number];

interface TargetOfRoute {
  readonly target: StoredTarget;
  readonly position: number;
  readonly requireExactModel: boolean;
}

/** Null: the scope has no such connection. */
function buildTarget(
  { target, position, requireExactModel }: TargetOfRoute,
  accountOf: AccountOf,
  providers: Adapters,
): Target | null {
  const found = accountOf(target.connection);
  if (found === undefined) return null;
  const { account, ownership } = found;
  const declared = ownProperty(account.models, target.model);
  const listed = ownProperty(account.listedEnds ?? {}, target.model);
  const speech = withEnd(
    speechModel(providers.speech.get(account.kind), target.model, declared, target.settings),
    listed,
  );
  const chat = withEnd(chatModel(account.kind, providers.chat.get(account.kind), target.model, declared), listed);
  const dialect = declared?.dialect == null ? {} : { dialect: declared.dialect };
  return {
    position,
    connection: target.connection,
    account: account.key,
    ownership,
    provider: account.kind,
    model: target.model,
    speech,
    chat,
    profiles: target.profiles,
    settings: { ...dialect, ...regionalSettings(account), ...target.settings },
    firstContentTimeoutMs: target.firstContentTimeoutSeconds * 1000,
    requiresExactModel: requireExactModel,
    profileSettings: target.profileSettings,
    dataPolicy: targetDataPolicy(account, { name: target.model, speech, chat }, providers),
  };
}

function toPurpose(binding: PurposeBinding): Purpose {
  const { purpose, description, isEnabled, isPublished, route, defaults } = binding;
  const dataPolicy = requiredDataPolicy(binding.dataPolicy);
  return { label: purpose, description, isEnabled, isPublished, route, defaults, dataPolicy };
}

/** A key of a deleted route has no models and reports so. It does not use another route instead. */
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
