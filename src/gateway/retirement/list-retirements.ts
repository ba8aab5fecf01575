// The retirement radar: everything that routes lose on any day, with the purposes and apps that it concerns [retirement.entries].
import type { AppId, WorkspaceId } from "../../contract/ids.ts";
import { type Directory, PLATFORM } from "../../directory/snapshot.ts";
import { createTickBudget } from "../../lib/concurrency/tick-budget.ts";
import { combineDataPolicies, dataPolicyKey, type RequiredDataPolicy } from "../../routing/data-policy.ts";
import type { PurposeDefaults, Route } from "../../routing/types.ts";
import type { RouteLoss } from "./find-losses.ts";
import type { RouteJudge, View } from "./judge-routes.ts";
import { CHAT, purposeProbe } from "./probes.ts";
import { type AppUser, type RouteUse, usesOf, type WorkspaceUsers } from "./route-users.ts";

export interface Retirement extends RouteLoss {
  /** Stable as long as date, route, feature and data policy are: `2027-02-26/platform/calls/diarization`. */
  readonly id: string;
  /** The workspace that it concerns alone. Null: a shared route, and everyone who uses it. */
  readonly workspace: WorkspaceId | null;
  readonly view: View;
  /** With the data policy by which it was judged. */
  readonly route: Route;
  /** Only requests with this data policy lose it, which apps and purposes require: `training=never`. Null: it is no more than the route requires. */
  readonly dataPolicy: string | null;
  readonly isSharedRoute: boolean;
  readonly purposes: readonly AffectedPurpose[];
  readonly apps: readonly AffectedApp[];
}

export interface AffectedPurpose {
  readonly label: string;
  /** Its requests are refused, even if the caller requires nothing. */
  readonly isRefused: boolean;
}

export interface AffectedApp {
  readonly workspace: WorkspaceId;
  readonly id: AppId;
  readonly slug: string;
  /** `route`, `audio_input_override` or `purpose/<label>`. */
  readonly uses: readonly string[];
}

export interface ListServices {
  readonly directory: () => Directory;
  readonly judge: RouteJudge;
}

/** In the order of dates and names. Shared routes are listed, whether or not one of the workspaces uses them. */
export async function listRetirements(
  services: ListServices,
  workspaces: readonly WorkspaceUsers[],
): Promise<readonly Retirement[]> {
  const directory = services.directory();
  const budget = createTickBudget();
  const found = new Map<string, Retirement>();
  for (const group of groupsOf(directory, workspaces)) {
    for (const route of routesToJudge(directory, group)) {
      for (const judged of withPolicies(directory, group, route)) {
        if (budget.isSpent()) await budget.renew();
        const defaults = selecting(directory, group, judged).map((purpose) => purpose.defaults);
        for (const loss of services.judge.lossesOf(group.view, judged.route, defaults))
          for (const entry of entriesOf(directory, group, judged, loss, found)) found.set(entry.id, entry);
      }
    }
  }
  return [...found.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/** Workspaces for which routes are judged alike. */
interface Group {
  readonly view: View;
  readonly members: readonly Member[];
}

interface Member {
  readonly workspace: WorkspaceId;
  readonly apps: readonly AppWithUses[];
}

interface AppWithUses extends AppUser {
  readonly uses: readonly RouteUse[];
}

const SHARED_VIEW: View = { scope: PLATFORM, hasPlan: false };

/** The shared view first, also if no workspace has it: entries of other views are compared with it. */
function groupsOf(directory: Directory, workspaces: readonly WorkspaceUsers[]): readonly Group[] {
  const viewed = workspaces.map(({ id, hasPlan, apps }) => ({
    view: { scope: directory.scopes.has(id) ? id : PLATFORM, hasPlan },
    member: { workspace: id, apps: apps.map((app) => ({ ...app, uses: usesOf(directory, id, app) })) },
  }));
  const groups = Map.groupBy(viewed, ({ view }) => JSON.stringify(view));
  const sharedKey = JSON.stringify(SHARED_VIEW);
  const others = [...groups].flatMap(([key, all]) =>
    key === sharedKey ? [] : all.slice(0, 1).map(({ view }) => ({ view, all })),
  );
  return [{ view: SHARED_VIEW, all: groups.get(sharedKey) ?? [] }, ...others].map(({ view, all }) => ({
    view,
    members: all.map(({ member }) => member),
  }));
}

function routesToJudge(directory: Directory, { view, members }: Group): readonly Route[] {
  const routes = [...directory.routesOf(view.scope).values()];
  if (view === SHARED_VIEW) return routes;
  const used = new Set(members.flatMap(({ apps }) => apps.flatMap(({ uses }) => uses.map(({ route }) => route))));
  return routes.filter(({ id }) => used.has(id) || isOwnRoute(directory, view, id));
}

function isOwnRoute(directory: Directory, { scope }: View, id: string): boolean {
  return scope !== PLATFORM && directory.ownsRoute(scope, id);
}

/** A route with one of the data policies that apply to its requests. */
interface PolicyRoute extends Pick<Retirement, "dataPolicy"> {
  readonly route: Route;
}

/** The route by itself first, then with each other data policy of its apps and purposes [retirement.data-policy]. */
function withPolicies(directory: Directory, group: Group, route: Route): readonly PolicyRoute[] {
  const used = [
    ...usesIn(group, route).map(({ dataPolicy }) => dataPolicy),
    ...purposesOfRoutes(directory, group, route).map(({ dataPolicy }) => dataPolicy),
  ];
  const byKey = new Map(used.map((dataPolicy) => [dataPolicyKey(dataPolicy), dataPolicy]));
  byKey.delete(dataPolicyKey(route.dataPolicy));
  return [
    { route, dataPolicy: null },
    ...[...byKey.values()].map((dataPolicy) => ({
      route: { ...route, dataPolicy },
      dataPolicy: dataPolicyKey(dataPolicy),
    })),
  ];
}

function hasPolicyOf({ route }: PolicyRoute): (use: { readonly dataPolicy: RequiredDataPolicy | null }) => boolean {
  const key = dataPolicyKey(route.dataPolicy);
  return ({ dataPolicy }) => dataPolicyKey(dataPolicy) === key;
}

function usesIn({ members }: Pick<Group, "members">, route: Route): readonly RouteUse[] {
  return members.flatMap(({ apps }) => apps.flatMap(({ uses }) => uses)).filter((use) => use.route === route.id);
}

interface SelectingPurpose {
  readonly label: string;
  readonly defaults: PurposeDefaults;
}

/** The usable purposes of routes that select the route, with what they require of the data. */
function purposesOfRoutes(
  directory: Directory,
  { view }: Pick<Group, "view">,
  route: Route,
): readonly (SelectingPurpose & { readonly dataPolicy: RequiredDataPolicy | null })[] {
  return [...directory.routesOf(view.scope).values()].flatMap((owner) =>
    owner.purposes
      .filter(({ isEnabled, isPublished, route: id }) => isEnabled && isPublished && id === route.id)
      .map((purpose) => ({
        ...purpose,
        dataPolicy: combineDataPolicies([owner.dataPolicy, purpose.dataPolicy, route.dataPolicy]),
      })),
  );
}

/** The usable purposes of routes and apps that select the route with its data policy. */
function selecting(directory: Directory, group: Group, judged: PolicyRoute): readonly SelectingPurpose[] {
  const { route } = judged;
  const ofRoutes = purposesOfRoutes(directory, group, route).filter(hasPolicyOf(judged));
  const ofApps = usesIn(group, route)
    .filter(hasPolicyOf(judged))
    .flatMap(({ purpose }) => purpose ?? []);
  return [...ofRoutes, ...ofApps];
}

/**
 * One entry for all if the loss is that of the shared view, else one for each workspace that it concerns. A loss that a data policy does not change belongs to
 * the entry without one.
 */
function entriesOf(
  directory: Directory,
  group: Group,
  judged: PolicyRoute,
  loss: RouteLoss,
  found: ReadonlyMap<string, Retirement>,
): readonly Retirement[] {
  const { view, members } = group;
  const { route, dataPolicy } = judged;
  const isSharedRoute = !isOwnRoute(directory, view, route.id);
  const knownId = (workspace: WorkspaceId | null): string | undefined =>
    [null, dataPolicy]
      .map((policy) => idOf(loss, route, workspace, policy))
      .find((id) => isSameLoss(found.get(id), loss));
  const entry = (id: string, workspace: WorkspaceId | null, concerned: readonly Member[]): Retirement => {
    const known = found.get(id);
    const purposes = affectedPurposes(selecting(directory, { view, members: concerned }, judged), loss);
    return {
      ...(known ?? { ...loss, view, route, dataPolicy, isSharedRoute }),
      id,
      workspace,
      purposes: mergePurposes([...(known?.purposes ?? []), ...purposes]),
      apps: mergeApps([...(known?.apps ?? []), ...concerned.flatMap((member) => affectedApps(member, judged, loss))]),
    };
  };
  const sharedId = isSharedRoute ? knownId(null) : undefined;
  if (view === SHARED_VIEW || sharedId !== undefined) {
    const shared = entry(sharedId ?? idOf(loss, route, null, dataPolicy), null, members);
    return dataPolicy === null || isUsed(shared) ? [shared] : [];
  }
  const own = members.map((member) => {
    const { workspace } = member;
    return entry(knownId(workspace) ?? idOf(loss, route, workspace, dataPolicy), workspace, [member]);
  });
  if (isSharedRoute) return own.filter(({ apps }) => apps.length > 0);
  return dataPolicy === null ? own : own.filter(isUsed);
}

function isUsed({ apps, purposes }: Pick<Retirement, "apps" | "purposes">): boolean {
  return apps.length > 0 || purposes.length > 0;
}

/** Of the same targets: an own connection of a workspace may replace the shared one. */
function isSameLoss(known: RouteLoss | undefined, loss: RouteLoss): boolean {
  const facts = ({ languages, targets }: RouteLoss): string =>
    JSON.stringify([languages, targets.map(({ account, model }) => [account, model])]);
  return known !== undefined && facts(known) === facts(loss);
}

function idOf(
  { date, feature, evidence }: RouteLoss,
  { id }: Route,
  workspace: WorkspaceId | null,
  dataPolicy: string | null,
): string {
  return [
    date,
    workspace ?? PLATFORM,
    id,
    feature,
    ...(evidence === "vendor" ? [] : [evidence]),
    ...(dataPolicy === null ? [] : [`data_policy(${dataPolicy})`]),
  ].join("/");
}

function affectedPurposes(purposes: readonly SelectingPurpose[], loss: RouteLoss): readonly AffectedPurpose[] {
  const lost = new Set(
    [...loss.lostProbes].flatMap((probe) => ("parts" in probe ? [JSON.stringify(probe.fields)] : [])),
  );
  return purposes.map(({ label, defaults }) => ({
    label,
    isRefused:
      loss.capability === "chat" ? loss.feature === CHAT : lost.has(JSON.stringify(purposeProbe(defaults).fields)),
  }));
}

function mergePurposes(purposes: readonly AffectedPurpose[]): readonly AffectedPurpose[] {
  return [...Map.groupBy(purposes, ({ label }) => label)]
    .map(([label, same]) => ({ label, isRefused: same.some(({ isRefused }) => isRefused) }))
    .toSorted((left, right) => (left.label < right.label ? -1 : 1));
}

/** An app may use the route with several data policies. */
function mergeApps(apps: readonly AffectedApp[]): readonly AffectedApp[] {
  return [...Map.groupBy(apps, ({ workspace, id }) => `${workspace}/${id}`).values()].flatMap((same) =>
    same.slice(0, 1).map((app) => ({ ...app, uses: [...new Set(same.flatMap(({ uses }) => uses))] })),
  );
}

function affectedApps(
  { workspace, apps }: Member,
  judged: PolicyRoute,
  { capability }: RouteLoss,
): readonly AffectedApp[] {
  return apps.flatMap(({ app, slug, uses }) => {
    const through = uses
      .filter((use) => use.route === judged.route.id && use.capability === capability)
      .filter(hasPolicyOf(judged))
      .map(({ by, purpose }) => (purpose === null ? by : `purpose/${purpose.label}`));
    return through.length === 0 ? [] : [{ workspace, id: app.id, slug, uses: [...new Set(through)] }];
  });
}
