// The retirement radar: everything that routes lose on any day, with the purposes and apps that it concerns [retirement.entries].
import type { AppId, WorkspaceId } from "../../contract/ids.ts";
import { type Directory, PLATFORM } from "../../directory/snapshot.ts";
import { createTickBudget } from "../../lib/concurrency/tick-budget.ts";
import type { PurposeDefaults, Route } from "../../routing/types.ts";
import type { RouteLoss } from "./find-losses.ts";
import type { RouteJudge, View } from "./judge-routes.ts";
import { CHAT, purposeProbe } from "./probes.ts";
import { type AppUser, type RouteUse, usesOf, type WorkspaceUsers } from "./route-users.ts";

export interface Retirement extends RouteLoss {
  /** Stable as long as date, route and feature are: `2027-02-26/platform/calls/diarization`. */
  readonly id: string;
  /** The workspace that it concerns alone. Null: a shared route, and everyone who uses it. */
  readonly workspace: WorkspaceId | null;
  readonly view: View;
  readonly route: Route;
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
      if (budget.isSpent()) await budget.renew();
      const defaults = selecting(directory, group, route).map((purpose) => purpose.defaults);
      for (const loss of services.judge.lossesOf(group.view, route, defaults))
        for (const entry of entriesOf(directory, group, route, loss, found)) found.set(entry.id, entry);
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

interface SelectingPurpose {
  readonly label: string;
  readonly defaults: PurposeDefaults;
}

/** The usable purposes of routes and apps that select the route. */
function selecting(directory: Directory, { view, members }: Group, route: Route): readonly SelectingPurpose[] {
  const ofRoutes = [...directory.routesOf(view.scope).values()].flatMap(({ purposes }) =>
    purposes.filter(({ isEnabled, isPublished, route: id }) => isEnabled && isPublished && id === route.id),
  );
  const ofApps = members
    .flatMap(({ apps }) => apps.flatMap(({ uses }) => uses))
    .flatMap(({ route: id, purpose }) => (purpose === null || id !== route.id ? [] : [purpose]));
  return [...ofRoutes, ...ofApps];
}

/** One entry for all if the loss is that of the shared view, else one for each workspace that it concerns. */
function entriesOf(
  directory: Directory,
  group: Group,
  route: Route,
  loss: RouteLoss,
  found: ReadonlyMap<string, Retirement>,
): readonly Retirement[] {
  const { view, members } = group;
  const isSharedRoute = !isOwnRoute(directory, view, route.id);
  const shared = found.get(idOf(loss, route, null));
  const isShared = view === SHARED_VIEW || (isSharedRoute && shared !== undefined && isSameLoss(shared, loss));
  const entry = (workspace: WorkspaceId | null, concerned: readonly Member[]): Retirement => {
    const id = idOf(loss, route, workspace);
    const known = found.get(id);
    const purposes = affectedPurposes(selecting(directory, { view, members: concerned }, route), loss);
    return {
      ...(known ?? { ...loss, view, route, isSharedRoute }),
      id,
      workspace,
      purposes: mergePurposes([...(known?.purposes ?? []), ...purposes]),
      apps: [...(known?.apps ?? []), ...concerned.flatMap((member) => affectedApps(member, route, loss))],
    };
  };
  if (isShared) return [entry(null, members)];
  return members
    .map((member) => entry(member.workspace, [member]))
    .filter(({ apps }) => !isSharedRoute || apps.length > 0);
}

/** Of the same targets: an own connection of a workspace may replace the shared one. */
function isSameLoss(left: RouteLoss, right: RouteLoss): boolean {
  const facts = ({ languages, targets }: RouteLoss): string =>
    JSON.stringify([languages, targets.map(({ account, model }) => [account, model])]);
  return facts(left) === facts(right);
}

function idOf({ date, feature, evidence }: RouteLoss, { id }: Route, workspace: WorkspaceId | null): string {
  const parts = [date, workspace ?? PLATFORM, id, feature];
  return (evidence === "vendor" ? parts : [...parts, evidence]).join("/");
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

function affectedApps({ workspace, apps }: Member, route: Route, { capability }: RouteLoss): readonly AffectedApp[] {
  return apps.flatMap(({ app, slug, uses }) => {
    const through = uses
      .filter((use) => use.route === route.id && use.capability === capability)
      .map(({ by, purpose }) => (purpose === null ? by : `purpose/${purpose.label}`));
    return through.length === 0 ? [] : [{ workspace, id: app.id, slug, uses: [...new Set(through)] }];
  });
}
