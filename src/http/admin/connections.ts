// …/connections: manages provider connections, shared ones and those of workspaces [admin.connections], and tests their credentials.
import {
  createConnection,
  describeConnection,
  listConnectionViews,
  removeConnection,
  replaceConnection,
  rotateCredential,
} from "../../admin/connections/connections.ts";
import { testConnection } from "../../admin/connections/test-connection.ts";
import { testConnectionContracts } from "../../contract/admin/connection-test.ts";
import {
  connectionQuery,
  credentialRequest,
  deleteConnectionContracts,
  getConnectionContracts,
  listConnectionsContracts,
  postConnectionContracts,
  putConnectionContracts,
  rotateCredentialContracts,
} from "../../contract/admin/connections.ts";
import { pathParameter } from "../server/path-parameter.ts";
import { readFields, readQuery } from "../body/read-fields.ts";
import { everywhereEndpoint, type EverywhereEndpoint, readObject } from "./owner-endpoints.ts";
import { type AdminEdge, deletedReply, listReply, objectReply, pageRequest, preconditionOf } from "./frame.ts";

const LIST = "connections";

export function connectionEndpoints(edge: AdminEdge): readonly EverywhereEndpoint[] {
  const { setUp, connectionTests } = edge;
  return [
    everywhereEndpoint(edge, listConnectionsContracts, async ({ request }, { scope }) => {
      const page = pageRequest(LIST, readQuery(request, connectionQuery));
      return listReply(LIST, await listConnectionViews(setUp, { scope, ...page }));
    }),
    everywhereEndpoint(edge, postConnectionContracts, async (context, actor) =>
      objectReply(await createConnection(setUp, { ...actor, body: await readObject(context) }), 201),
    ),
    everywhereEndpoint(edge, getConnectionContracts, async (context, { scope }) =>
      objectReply(await describeConnection(setUp, { scope, id: pathParameter(context, "connection_id") })),
    ),
    everywhereEndpoint(edge, putConnectionContracts, async (context, actor) => {
      const id = pathParameter(context, "connection_id");
      const precondition = preconditionOf(context);
      const body = await readObject(context, { id });
      return objectReply(await replaceConnection(setUp, { ...actor, id, precondition, body }));
    }),
    everywhereEndpoint(edge, rotateCredentialContracts, async (context, actor) => {
      const id = pathParameter(context, "connection_id");
      const precondition = preconditionOf(context);
      const { api_key: apiKey } = await readFields(context.request, credentialRequest);
      return objectReply(await rotateCredential(setUp, { ...actor, id, precondition, apiKey }));
    }),
    everywhereEndpoint(edge, testConnectionContracts, async (context, { scope }) => {
      const id = pathParameter(context, "connection_id");
      const json = await testConnection(connectionTests, { scope, id, signal: context.clientGone });
      return { status: 200, body: { json } };
    }),
    everywhereEndpoint(edge, deleteConnectionContracts, async (context, actor) => {
      const id = pathParameter(context, "connection_id");
      await removeConnection(setUp, { ...actor, id, precondition: preconditionOf(context) });
      return deletedReply("connection", id);
    }),
  ];
}
