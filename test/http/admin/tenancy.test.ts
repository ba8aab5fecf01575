// The matrix of tenancy (R11): every endpoint of both listeners, for every kind of caller and every kind of foreign object. Made from the
// list of endpoints: a new one, or a new kind of object in a path, cannot be forgotten.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ADMIN_ENDPOINTS } from "../../../src/contract/endpoints/admin-endpoints.ts";
import { type EndpointContract, requiredRole } from "../../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../src/contract/endpoints/endpoints.ts";
import {
  getConsoleFileContract,
  getConsoleModuleContract,
  getDocsPageContract,
  getDocsSectionPageContract,
  getWebFileContract,
  getPlaygroundFileContract,
  getPlaygroundModuleContract,
} from "../../../src/contract/endpoints/operations.ts";
import { errorBody } from "../../../src/contract/error-body.ts";
import { keyView } from "../../../src/contract/admin/keys.ts";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import { ADMIN_KEY, auditRows, call, OPERATOR_KEY, OTHER_ADMIN_KEY, viewOf } from "./admin.ts";
import { BODIES, openTenancyWorld, SECOND_APP_KEY, type World } from "./tenancy-world.ts";

let world: World;
before(async () => {
  world = await openTenancyWorld();
});
after(() => (world as World | undefined)?.gateway.close());

type Params = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly code: string | null;
  /** Everything of it but what is of this very exchange: its request id, its date. */
  readonly rest: string;
}

/** Pages and their files belong to no workspace. */
const PAGE_FILES: ReadonlySet<EndpointContract> = new Set([
  getPlaygroundFileContract,
  getPlaygroundModuleContract,
  getConsoleFileContract,
  getConsoleModuleContract,
  getDocsPageContract,
  getDocsSectionPageContract,
  getWebFileContract,
]);
const ALL: readonly EndpointContract[] = [
  ...ENDPOINTS.filter((endpoint) => !PAGE_FILES.has(endpoint)),
  ...ADMIN_ENDPOINTS.filter(({ auth }) => auth === "operator"),
];
const WITH_KEY = ALL.filter(({ auth }) => auth !== "none");
const WITH_OBJECT = ALL.filter(({ path }) => /:(?!tenant_id|plan_id|model_name)/u.test(path));
const paramsOf = (path: string) => [...path.matchAll(/:([a-z_]+)/gu)].map(([, name = ""]) => name);
const nameOf = ({ method, path }: EndpointContract) => `${method} ${path}`;
const isMirrored = ({ path }: EndpointContract) => path.includes(":tenant_id");
const isOperators = ({ auth }: EndpointContract) => auth === "operator";

/** Of these the last name in the path may be new: they make it. */
const MAKES = new Set(["putBudget", "putPurpose", "putPlatformPurpose"]);
/** Plans and models of this machine belong to no workspace. */
const NO_TENANTS = new Set(["tenant_id", "plan_id", "model_name"]);
/** Every workspace's, for the operator alone. */
const SEES_ALL = new Set(["GET /admin/v1/requests/:request_id"]);

test("tenancy.matrix-complete: a kind of object or a body that the matrix does not cover is found by its name", () => {
  for (const endpoint of ALL) {
    fill(endpoint, { ...world.acme.objects, ...world.platform });
    fill(endpoint, world.missing);
    bodyOf(endpoint);
  }
  const unknown = { ...WITH_KEY[0], method: "GET", path: "/workspace/:tenant_id/gadgets/:gadget_id" } as const;
  assert.throws(() => fill(unknown as EndpointContract, world.acme.objects), /gadget_id/u);
  const bodied = { ...unknown, operationId: "createGadget", requestBody: {} };
  assert.throws(() => bodyOf(bodied as unknown as EndpointContract), /createGadget/u);
});

test(`keys.one-401: ${WITH_KEY.length} endpoints: no key, a malformed, unknown, expired or revoked one have one answer, whatever the path names`, async () => {
  const made = async () =>
    viewOf(keyView, await call(world.gateway, "POST", "/workspace/acme/keys", { body: { role: "admin" } }));
  const [expired, revoked] = [await made(), await made()];
  await world.gateway.database.db
    .updateTable("api_keys")
    .set({ expires_at: new Date("2020-01-01T00:00:00Z") })
    .where("id", "=", expired.id)
    .execute();
  assert.equal((await call(world.gateway, "DELETE", `/workspace/acme/keys/${revoked.id}`)).status, 200);
  const keys = [
    null,
    "svc_live_mistyped",
    "a-key-that-nobody-ever-made-01",
    expired.secret ?? "",
    revoked.secret ?? "",
  ];
  for (const endpoint of WITH_KEY) {
    const answers = await Promise.all([
      ...keys.map((key) => ask(endpoint, key, { ...world.acme.objects, ...world.platform })),
      ask(endpoint, expired.secret ?? "", world.missing),
    ]);
    for (const answer of answers) {
      assert.deepEqual([answer.status, answer.code], [401, "UNAUTHENTICATED"], nameOf(endpoint));
      assert.equal(answer.rest, answers[0]?.rest, nameOf(endpoint));
    }
  }
});

test("tenancy.foreign-is-missing: a foreign object and a missing one have one answer, byte for byte except the request id, and nothing changes", async (t) => {
  const { acme, other, missing } = world;
  const before = { audits: (await auditRows(world.gateway)).length, objects: await read() };
  let cells = 0;
  const alike = async (endpoint: EndpointContract, key: string, pair: Pair): Promise<void> => {
    const [foreign, none] = await Promise.all([ask(endpoint, key, pair.foreign), ask(endpoint, key, pair.missing)]);
    const where = `${nameOf(endpoint)}: ${pair.who}`;
    assert.equal(foreign.rest, none.rest, where);
    assert.ok(pair.codes.includes(foreign.code ?? ""), `${where}: ${foreign.status} ${foreign.rest}`);
    cells += 1;
  };
  const all = { ...acme.objects };
  for (const endpoint of ALL) {
    const pairs: (Pair & { readonly key: string })[] = [];
    const names = paramsOf(endpoint.path);
    if (isOperators(endpoint) || isMirrored(endpoint))
      for (const [who, key] of [
        ["member without admin", KEY],
        ["other app", SECOND_APP_KEY],
      ] as const)
        pairs.push({
          who,
          key,
          foreign: { ...world.platform, ...all },
          missing: { ...missing, tenant_id: "acme" },
          codes: FORBIDDEN,
        });
    for (const [who, key] of [
      ["other workspace", OTHER_KEY],
      ["foreign admin", OTHER_ADMIN_KEY],
    ] as const) {
      if (isOperators(endpoint))
        pairs.push({ who, key, foreign: { ...world.platform, ...all }, missing, codes: FORBIDDEN });
      else if (isMirrored(endpoint))
        pairs.push({ who, key, foreign: all, missing: { ...all, tenant_id: "nobody" }, codes: NOT_FOUND });
    }
    // The operator, of a workspace that there is none.
    if (isMirrored(endpoint))
      pairs.push({
        who: "operator",
        key: OPERATOR_KEY,
        foreign: { ...all, tenant_id: "nobody" },
        missing: { ...missing },
        codes: NOT_FOUND,
      });
    for (const [at, name] of names.entries()) {
      if (NO_TENANTS.has(name) || SEES_ALL.has(nameOf(endpoint))) continue;
      if (at === names.length - 1 && MAKES.has(endpoint.operationId)) continue;
      // What comes before it in the path is the caller's own, what comes after it exists.
      const own = isOperators(endpoint) && !isMirrored(endpoint) ? world.platform : other.objects;
      const upTo = Object.fromEntries(names.slice(0, at).map((each) => [each, own[each] ?? ""]));
      const pair = (who: string) => ({
        who: `${who}, another's ${name}`,
        foreign: { ...all, ...upTo },
        missing: { ...all, ...upTo, [name]: missing[name] ?? "" },
      });
      if (isMirrored(endpoint)) {
        pairs.push({ ...pair("operator"), key: OPERATOR_KEY, codes: NOT_FOUND });
        if (!isOperators(endpoint)) pairs.push({ ...pair("foreign admin"), key: OTHER_ADMIN_KEY, codes: NOT_FOUND });
      } else if (isOperators(endpoint)) pairs.push({ ...pair("operator"), key: OPERATOR_KEY, codes: NOT_FOUND });
      else
        for (const [who, key, codes] of [
          ["other app", SECOND_APP_KEY, NOT_FOUND],
          ["other workspace", OTHER_KEY, NOT_FOUND],
          ["administrator, who has no app", ADMIN_KEY, [...NOT_FOUND, ...FORBIDDEN]],
          ["foreign admin", OTHER_ADMIN_KEY, [...NOT_FOUND, ...FORBIDDEN]],
          ["operator", OPERATOR_KEY, [...NOT_FOUND, ...FORBIDDEN]],
        ] as const)
          pairs.push({ ...pair(who), key, codes });
    }
    await Promise.all(pairs.map((pair) => alike(endpoint, pair.key, pair)));
  }
  assert.equal((await auditRows(world.gateway)).length, before.audits);
  assert.deepEqual(await read(), before.objects);
  t.diagnostic(`${ALL.length} endpoints, ${cells} pairs of a foreign and a missing answer`);
});

test("tenancy.lists: no list or answer of another app, or of another workspace, shows an object of acme", async () => {
  const { acme, other, platform } = world;
  const names = Object.entries(acme.objects).filter(
    ([kind]) => kind !== "version" && kind !== "period" && kind !== "tenant_id",
  );
  // Its workspace, connections and routes are the second app's too.
  const ofApp = names.filter(([kind]) =>
    ["app_id", "key_id", "job_id", "request_id", "token", "delivery_id"].includes(kind),
  );
  for (const endpoint of ALL.filter(({ method }) => method === "GET")) {
    if (isOperators(endpoint) && !isMirrored(endpoint)) continue;
    const callers = isOperators(endpoint)
      ? [[OPERATOR_KEY, names] as const]
      : [[OTHER_KEY, names] as const, [OTHER_ADMIN_KEY, names] as const, [SECOND_APP_KEY, ofApp] as const];
    for (const [key, hidden] of callers) {
      const { rest } = await ask(endpoint, key, { ...platform, ...other.objects });
      for (const [kind, name] of hidden) assert.ok(!rest.includes(name), `${nameOf(endpoint)} reveals a ${kind}`);
    }
  }
});

test("tenancy.names-free: a name that another workspace uses is free", async () => {
  for (const endpoint of ENDPOINTS.filter(({ operationId }) => /^create(App|Connection|Route)$/u.test(operationId))) {
    const name = { createApp: "acme-app", createConnection: "acme-account", createRoute: "acme-route" }[
      endpoint.operationId
    ];
    const answer = await ask(endpoint, OTHER_ADMIN_KEY, world.other.objects, name);
    assert.equal(answer.status, 201, `${nameOf(endpoint)}: ${answer.rest}`);
  }
});

test("tenancy.owners-admitted: owners reach every endpoint of the matrix", async () => {
  const rank = ({ method, path }: EndpointContract) =>
    ["GET", "PUT", "POST", "DELETE"].indexOf(method) * 1_000 - path.split("/").length;
  // Jobs that ended are left as they are by what removes other things.
  for (const endpoint of WITH_KEY.toSorted((one, another) => rank(one) - rank(another))) {
    const [key, objects] = isOperators(endpoint)
      ? [
          OPERATOR_KEY,
          { ...world.other.objects, ...world.platform, ...(isMirrored(endpoint) ? world.other.objects : {}) },
        ]
      : [isMirrored(endpoint) ? ADMIN_KEY : KEY, world.acme.objects];
    const answer = await ask(endpoint, key, objects, "made-by-the-owner");
    assert.ok(
      ![401, 403, 404, 405, 500].includes(answer.status),
      `${nameOf(endpoint)}: ${answer.status} ${answer.rest}`,
    );
  }
});

test("api.openapi-roles: the key of an app, with every scope, is refused by exactly the endpoints that declare a role", async () => {
  const objects = { ...world.platform, ...world.acme.objects };
  const refused = [];
  for (const endpoint of WITH_KEY) if ((await ask(endpoint, KEY, objects)).code === "FORBIDDEN") refused.push(endpoint);
  const declared = WITH_KEY.filter((endpoint) => requiredRole(endpoint) !== null);
  assert.deepEqual(refused.map(nameOf), declared.map(nameOf));
});

/** Of this very exchange: whether a connection is kept shows how much of an upload had been read when it was refused. */
const OF_THE_EXCHANGE = new Set(["date", "x-request-id", "connection", "keep-alive"]);
const NOT_FOUND = ["NOT_FOUND", "JOB_NOT_FOUND"];
const FORBIDDEN = ["FORBIDDEN"];

interface Pair {
  readonly who: string;
  readonly foreign: Params;
  readonly missing: Params;
  readonly codes: readonly string[];
}

/** Every object of acme's as its owner sees it. */
async function read(): Promise<readonly string[]> {
  const readers = WITH_OBJECT.filter(({ method, auth }) => method === "GET" && auth === "key");
  return Promise.all(
    readers.map(async (endpoint) => {
      const { status, rest } = await ask(endpoint, isMirrored(endpoint) ? ADMIN_KEY : KEY, world.acme.objects);
      assert.equal(status, 200, `${nameOf(endpoint)}: ${rest}`);
      return `${nameOf(endpoint)} ${rest}`;
    }),
  );
}

function fill(endpoint: EndpointContract, params: Params): string {
  return endpoint.path.replaceAll(/:([a-z_]+)/gu, (_, name: string) => {
    const value = params[name];
    assert.ok(
      value !== undefined && value !== "",
      `${nameOf(endpoint)}: the matrix has no object of the kind :${name}`,
    );
    return encodeURIComponent(value);
  });
}

function bodyOf({ operationId, requestBody }: EndpointContract, name = "made"): object | FormData | null {
  if (requestBody === undefined) return null;
  const make =
    BODIES[operationId.replace(/^(create|explain|replace|rotate|revise|publish|roll|put|pause|resume)Platform/u, "$1")];
  assert.ok(make !== undefined, `the matrix has no body for ${operationId}`);
  return make({ name });
}

async function ask(endpoint: EndpointContract, key: string | null, params: Params, name?: string): Promise<Answer> {
  const { gateway } = world;
  const body = bodyOf(endpoint, name);
  const response = await fetch(
    `${isOperators(endpoint) ? gateway.adminOrigin : gateway.origin}${fill(endpoint, params)}`,
    {
      method: endpoint.method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(endpoint.headers !== undefined && "If-Match" in endpoint.headers.shape ? { "if-match": "*" } : {}),
        ...(body === null || body instanceof FormData ? {} : { "content-type": "application/json" }),
      },
      ...(body === null ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    },
  );
  const requestId = response.headers.get("x-request-id") ?? "-";
  // A feed has no end; that it began is all there is to know.
  const isFeed = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const text = isFeed ? "" : await response.text();
  if (isFeed) await response.body?.cancel();
  const headers = [...response.headers].filter(([header]) => !OF_THE_EXCHANGE.has(header));
  return {
    status: response.status,
    code: response.status < 400 ? null : errorBody.parse(JSON.parse(text)).error.code,
    rest: JSON.stringify([response.status, headers, text.replaceAll(requestId, "")]),
  };
}
