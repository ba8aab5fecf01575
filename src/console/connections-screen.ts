// The list of provider accounts, with links to each and to a new one.
import type { ConnectionView } from "../contract/admin/connections.ts";
import type { ProviderKind } from "../contract/provider-kinds.ts";
import { element } from "../page/element.ts";
import { addConnection, chooseKind } from "./add-connection.ts";
import { CONNECTION_KINDS } from "./connection-kinds.ts";
import { oneConnection } from "./connection-screen.ts";
import { credentialView } from "./credential-view.ts";
import { listView } from "./list-view.ts";
import { declareModel } from "./model-screen.ts";
import { fileTag } from "./owner-view.ts";
import type { Visit } from "./visit.ts";
import { buttonLink, link, orNone, timeView } from "./words.ts";

/** `connections`, `connections/dg`, `connections/dg/models/nova-3`; `connections/add/provider`, `connections/add/deepgram`. */
export function showConnections(visit: Visit): Promise<readonly Node[]> {
  const [id, below, model] = visit.path;
  if (id === undefined) return list(visit);
  if (id === "add" && below === "provider") return chooseKind(visit);
  if (id === "add" && below !== undefined && Object.hasOwn(CONNECTION_KINDS, below))
    return addConnection(visit, below as ProviderKind);
  return below === "models" ? declareModel(visit, id, model ?? null) : oneConnection(visit, id);
}

async function list(visit: Visit): Promise<readonly Node[]> {
  const connections = await listView<ConnectionView>(visit, {
    caption: "Connections, by name",
    path: "/connections",
    heads: ["Connection", "Provider", "Credential", "Address", "Declared models", "Changed"],
    row: (connection) => rowOf(visit, connection),
    empty:
      visit.scope.workspace === null
        ? "No provider accounts yet. Add one, or add the sandbox to simulate one."
        : "This workspace uses the shared provider accounts. Add your own to be billed by the provider directly.",
  });
  return [
    element("p", {}, buttonLink(visit.link("connections", ["add", "provider"]), "Add a connection")),
    ...(visit.scope.workspace === null
      ? []
      : [
          element(
            "p",
            { class: "soft" },
            "Connections of this workspace. A connection with the same name as a shared one overrides it.",
          ),
        ]),
    connections,
  ];
}

function rowOf(visit: Visit, connection: ConnectionView): readonly (Node | string)[] {
  const { id, kind, base_url: address, models, updated_at: changed } = connection;
  return [
    element("div", {}, link(visit.link("connections", [id]), id), ...fileTag(connection)),
    CONNECTION_KINDS[kind].title,
    credentialView(connection),
    orNone(address),
    `${Object.keys(models).length}`,
    timeView(changed),
  ];
}
