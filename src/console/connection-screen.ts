// The page of one provider account: its settings, its test, its models, its pauses, and its changes.
import type { ConnectionTest } from "../contract/admin/connection-test.ts";
import type { ConnectionView } from "../contract/admin/connections.ts";
import type { PauseList } from "../contract/admin/pauses.ts";
import type { RouteView } from "../contract/admin/routes.ts";
import type { AssignableModel, AssignableModels } from "../contract/admin/workspace-models.ts";
import { element } from "../page/element.ts";
import { type Ability, abilityTables } from "./ability-view.ts";
import { changeViews } from "./connection-changes.ts";
import { dataPolicyText } from "./data-policy-field.ts";
import { CONNECTION_KINDS, connectionPath } from "./connection-kinds.ts";
import { connectionTestView } from "./connection-test-view.ts";
import { credentialView } from "./credential-view.ts";
import { type Declaration, declaredFeatures } from "./model-features.ts";
import { fileNotice, isOfFile, tag } from "./owner-view.ts";
import { pausePart } from "./pause-form.ts";
import { connectionsServing } from "./route-shape.ts";
import type { Page, Visit } from "./visit.ts";
import { factList, link, orNone, part, secondsText, timeView } from "./words.ts";

export async function oneConnection(visit: Visit, id: string): Promise<readonly Node[]> {
  const [{ data: connection, etag }, models, routes, pauses] = await Promise.all([
    visit.readWithEtag<ConnectionView>(connectionPath(id)),
    visit.ask<AssignableModels>("GET", "/models"),
    visit.ask<Page<RouteView>>("GET", "/routes?limit=100"),
    visit.read<PauseList>("/pauses"),
  ]);
  const isOwn = ({ connection: of, connection_owner: owner }: AssignableModel): boolean =>
    of === id && (owner === "workspace") === (visit.scope.workspace !== null);
  const own = models.ok ? models.data.data.filter(isOwn) : [];
  const modelsPart = part("Models", ...modelsOf(visit, connection, own));
  const test = connectionTestView(visit, {
    connection,
    isAtOnce: takeTestWish(visit, id),
    tested: (result) => {
      const [heading] = modelsPart.children;
      modelsPart.replaceChildren(
        ...(heading === undefined ? [] : [heading]),
        ...testedModels(visit, connection, result),
      );
    },
  });
  return [
    link(visit.link("connections"), "All connections"),
    ...(isOfFile(connection) ? [fileNotice("connection")] : []),
    factsOf(visit, connection, routes.ok ? routes.data : null),
    test,
    pausePart(visit, {
      id,
      models: own.map(({ model }) => model),
      pauses: pauses.data.filter((pause) => pause.connection === id),
    }),
    modelsPart,
    ...changeViews(visit, connection, etag),
  ];
}

/** The connection was just created, or its credential replaced. Consumed once, so that a reload does not test again. */
function takeTestWish(visit: Visit, id: string): boolean {
  if (visit.query.get("test") !== "now") return false;
  history.replaceState(null, "", visit.link("connections", [id]));
  return true;
}

function factsOf(visit: Visit, connection: ConnectionView, routes: Page<RouteView> | null): Node {
  const { kind, base_url: address, timeout_seconds: timeout } = connection;
  const { title, address: own } = CONNECTION_KINDS[kind];
  return part(
    "Details",
    factList([
      ["Provider", title],
      ["Credential", credentialView(connection)],
      ["Address", address ?? (own === null ? "inside the gateway" : `${own.placeholder} (provider default)`)],
      ["Region", orNone(connection.region)],
      ["Data policy stated", dataPolicyText(connection.data_policy)],
      ["Timeout", secondsText(timeout)],
      ["Used by", namedBy(visit, connection, routes)],
      ["Connected", timeView(connection.created_at)],
      ["Changed", timeView(connection.updated_at)],
    ]),
  );
}

/** Published routes of this scope; routes of other scopes that use the connection are not listed. */
function namedBy(visit: Visit, { id }: ConnectionView, routes: Page<RouteView> | null): Node | string {
  if (routes === null) return orNone(null);
  const names = routes.data.filter((route) => connectionsServing(route).includes(id));
  if (names.length === 0)
    return routes.next_cursor === null ? "no route" : `none of the first ${routes.data.length} routes`;
  return element(
    "span",
    {},
    ...names.flatMap((route, place) => [
      ...(place === 0 ? [] : [", "]),
      link(visit.link("routes", [route.id]), `route ${route.id}`),
    ]),
  );
}

/** `known`: the gateway's facts about each model; declared models are always listed. */
function modelsOf(visit: Visit, connection: ConnectionView, known: readonly Ability[]): readonly Node[] {
  const names = new Set(known.map(({ model }) => model));
  const declared = Object.entries(connection.models as Readonly<Record<string, Declaration>>)
    .filter(([name]) => !names.has(name))
    .map(([model, declaration]) => ({
      model,
      capabilities: declaration.capabilities ?? [],
      features: declaredFeatures(declaration),
      weak_features: [],
    }));
  const all = [...known, ...declared].toSorted((left, right) => (left.model < right.model ? -1 : 1));
  const isOpen = !isOfFile(connection);
  const { wantsModels } = CONNECTION_KINDS[connection.kind];
  const emptyText = wantsModels
    ? "No models declared yet, so routes cannot use this connection. Run a test to list the server's models."
    : "Run a test to list the models that routes can use, and their features.";
  return [
    ...(all.length === 0
      ? [element("p", {}, emptyText)]
      : abilityTables(all, (model) => nameOf(visit, connection, model))),
    ...(isOpen
      ? [
          element(
            "p",
            {},
            link(visit.link("connections", [connection.id, "models"]), "Declare a model"),
            wantsModels ? "" : ", for models that Patchbay does not know or to override its defaults",
          ),
        ]
      : []),
  ];
}

function nameOf(visit: Visit, connection: ConnectionView, model: string): Node {
  const { id, models } = connection;
  if (!Object.hasOwn(models, model)) return element("span", {}, model);
  const name = isOfFile(connection) ? model : link(visit.link("connections", [id, "models", model]), model);
  return element("span", {}, name, tag("declared"));
}

function testedModels(visit: Visit, connection: ConnectionView, test: ConnectionTest): readonly Node[] {
  const { models, undeclared_models: more } = test;
  const views = modelsOf(visit, connection, models);
  if (more === null || more.length === 0) return views;
  const isOpen = !isOfFile(connection);
  const items = more.map((name) =>
    element("li", {}, isOpen ? link(visit.link("connections", [connection.id, "models", name]), name) : name),
  );
  const note = element(
    "details",
    CONNECTION_KINDS[connection.kind].wantsModels ? { open: "" } : {},
    element("summary", {}, `Other models of the account (${more.length})`),
    element("p", {}, "Declare those that transcribe or chat to use them in routes."),
    element("ul", {}, ...items),
  );
  return [...views, note];
}
